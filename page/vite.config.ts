import { defineConfig } from "vite";
import { fingerprint } from "./build/fingerprint.ts";
import { licences } from "./build/licences.ts";

// `geosleuth serve` answers /api and /tiles; `npm run dev` lends it a page that reloads by itself.
const server = process.env["GEOSLEUTH_SERVER"] ?? "http://127.0.0.1:8711";
const passed = { target: server, changeOrigin: true, headers: { origin: server } };

export default defineConfig({
  base: "/",
  plugins: [fingerprint(), licences()],
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "../src/geosleuth/server/page",
    emptyOutDir: true,
    target: "es2022",
    sourcemap: false,
    // Nothing is inlined: the content-security policy takes scripts, styles and fonts from this server alone.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // MapLibre's worker is a file of its own; every server knows what .js is, not every one knows .mjs.
    rolldownOptions: {
      output: {
        assetFileNames: ({ names }) => (names[0]?.endsWith(".mjs") ? "assets/[name]-[hash].js" : "assets/[name]-[hash][extname]"),
      },
    },
    chunkSizeWarningLimit: 1500,
  },
  server: { proxy: { "/api": passed, "/tiles": passed } },
});
