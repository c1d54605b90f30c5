import tailwindcss from "@tailwindcss/vite"
import react from "@vitejs/plugin-react"
import { defineConfig } from "vite"

/** The service behind the panel during development. */
const service = process.env["SCHEDULING_URL"] ?? "http://127.0.0.1:4000"

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), tailwindcss()],
  build: {
    target: "baseline-widely-available",
    // The content security policy allows neither inline assets nor the module preload script.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1000,
    reportCompressedSize: false
  },
  server: {
    proxy: Object.fromEntries(
      [
        "/v1",
        "/panel/session",
        "/panel/oidc",
        "/panel/passkey",
        "/docs",
        "/favicon.ico",
        "/ping"
      ].map((path) => [path, service])
    )
  }
})
