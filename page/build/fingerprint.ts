import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "vite";

/** What the page is made of; `tests/server/page/test_build.py` counts the same files. */
const MADE_OF = ["build", "index.html", "package-lock.json", "package.json", "public", "src", "tsconfig.json", "vite.config.ts"];

/** Writes sources.sha256 beside the built page, so that a machine without Node can tell whether the page is up to date. */
export function fingerprint(): Plugin {
  return {
    name: "fingerprint",
    apply: "build",
    generateBundle() {
      this.emitFile({ type: "asset", fileName: "sources.sha256", source: `${digest(join(import.meta.dirname, ".."))}\n` });
    },
  };
}

function digest(folder: string): string {
  const hash = createHash("sha256");
  for (const name of MADE_OF.flatMap((part) => filesOf(folder, part)).sort()) {
    hash.update(`${name}\0`).update(readFileSync(join(folder, name))).update("\0");
  }
  return hash.digest("hex");
}

function filesOf(folder: string, part: string): string[] {
  if (!statSync(join(folder, part)).isDirectory()) return [part];
  return readdirSync(join(folder, part), { withFileTypes: true }).flatMap((entry) => filesOf(folder, `${part}/${entry.name}`));
}
