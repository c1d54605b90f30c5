/** Builds the panel in `dist`, with compressed copies of its files. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { brotliCompressSync, gzipSync } from "node:zlib"
import { build } from "vite"

const panel = join(import.meta.dirname, "..")
const dist = join(panel, "dist")

await build({ configFile: join(panel, "vite.config.ts"), logLevel: "warn" })

for (const name of readdirSync(dist, { recursive: true, encoding: "utf8" })) {
  if (!/\.(?:html|js|css|svg)$/.test(name)) continue
  const file = join(dist, name)
  const bytes = readFileSync(file)
  writeFileSync(`${file}.br`, brotliCompressSync(bytes))
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }))
}
