import { existsSync, globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"

const database = "packages/server/test/support/TestDatabase.ts"

/**
 * Separates the test files that use the test database, directly or through an import, from the
 * others, which behave the same on every store.
 */
export const testsByStore = (patterns: ReadonlyArray<string>) => {
  const known = new Map<string, ReadonlyArray<string>>()
  const importsOf = (file: string): ReadonlyArray<string> => {
    const before = known.get(file)
    if (before !== undefined) return before
    const text = existsSync(file) ? readFileSync(file, "utf8") : ""
    const found = [...text.matchAll(/\b(?:from|import)[\s(]+"(\.[^"]+)"/g)]
    const files = found.map(([, path = ""]) => join(dirname(file), path))
    known.set(file, files)
    return files
  }
  const usesStore = (start: string): boolean => {
    const reached = new Set([start])
    for (const file of reached) for (const imported of importsOf(file)) reached.add(imported)
    return reached.has(database)
  }
  const files = globSync([...patterns])
  return {
    withStore: files.filter(usesStore),
    withoutStore: files.filter((file) => !usesStore(file))
  }
}
