import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { relative } from "node:path"
import { fileURLToPath } from "node:url"

/** Writes a generated file. With `--check` it compares instead and fails on a difference. */
export const writeOrCheck = (file: URL, text: string): void => {
  if (!process.argv.includes("--check")) {
    writeFileSync(file, text)
  } else if (!existsSync(file) || readFileSync(file, "utf8") !== text) {
    const name = relative(process.cwd(), fileURLToPath(file))
    process.stderr.write(`${name} does not match the migrations: run \`npm run generate\`\n`)
    process.exitCode = 1
  }
}
