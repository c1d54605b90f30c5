/**
 * Fails if two files of a package export the same name, so that each name has one declaration. The
 * SDK has two entries with the same names on purpose: one for promises and one for Effect.
 */
import { globSync, readFileSync } from "node:fs"

const declaration =
  /^export (?:abstract )?(?:async )?(?:class|const|enum|function\*?|interface|let|type) (\w+)/gm

const packageOf = (file: string) =>
  /^packages\/sdk\/src\/effect\b/.test(file) ? "sdk/effect" : (file.split("/")[1] ?? "")

const filesByName = new Map<string, Set<string>>()
for (const path of globSync("packages/*/src/**/*.{ts,tsx}")) {
  const file = path.replaceAll("\\", "/")
  for (const [, name] of readFileSync(file, "utf8").matchAll(declaration)) {
    const key = `${packageOf(file)}: ${name}`
    filesByName.set(key, (filesByName.get(key) ?? new Set()).add(file))
  }
}

const duplicates = [...filesByName].filter(([, files]) => files.size > 1)
for (const [name, files] of duplicates) {
  console.error(`${name} is exported by ${[...files].join(" and ")}`)
}
if (duplicates.length > 0) process.exit(1)
