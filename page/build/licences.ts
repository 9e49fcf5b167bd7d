import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "vite";

interface Locked {
  version?: string;
  license?: string;
  dev?: boolean;
  devOptional?: boolean;
  peer?: boolean;
}

/** Writes LICENSES.txt beside the built page: every package that may be in it, with its licence's text. */
export function licences(): Plugin {
  return {
    name: "licences",
    apply: "build",
    generateBundle() {
      this.emitFile({ type: "asset", fileName: "LICENSES.txt", source: licenceTexts(import.meta.dirname + "/..") });
    },
  };
}

// MapLibre comes bundled with its own dependencies, which the bundler therefore never sees: the lock file knows them.
function licenceTexts(folder: string): string {
  const lock = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8")) as { packages: Record<string, Locked> };
  const shipped = Object.entries(lock.packages)
    .filter(([path, locked]) => path !== "" && !locked.dev && !locked.devOptional && !locked.peer)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  const parts = shipped.map(([path, locked]) => {
    const name = path.replace(/^.*node_modules\//, "");
    return `${name} ${locked.version ?? ""}\nLicence: ${locked.license ?? "see below"}\n\n${textOf(join(folder, path))}`;
  });
  const head =
    "Packages of other people in the built page, with their licences.\nMade by `make page` from page/package-lock.json.";
  return [head, ...parts].join(`\n\n${"-".repeat(80)}\n\n`) + "\n";
}

function textOf(folder: string): string {
  const files = existsSync(folder) ? readdirSync(folder).filter((name) => /^(licen[cs]e|copying|notice)/i.test(name)).sort() : [];
  const texts = files.map((name) => readFileSync(join(folder, name), "utf8").replace(/\r\n/g, "\n").trim());
  return texts.length > 0 ? texts.join("\n\n") : `(The package carries no licence text of its own. Its author: ${authorOf(folder)}.)`;
}

function authorOf(folder: string): string {
  const { author } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { author?: string | { name?: string } };
  return (typeof author === "string" ? author : author?.name) ?? "not named";
}
