import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import type { TestProject } from "vitest/node"
import { migratedTemplate, unpackTemplate } from "./migratedStore.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** The packed files of a migrated store. */
    readonly migratedStore: string
    /** The unpacked files of a migrated store, for the `postgres` folder in a data directory. */
    readonly storeFiles: string
  }
}

/** Provides a migrated store to all tests, except those that create a store themselves. */
export default async function setup(project: TestProject): Promise<() => void> {
  const template = await migratedTemplate()
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "scheduling-store-"))
  const files = path.join(folder, "postgres")
  unpackTemplate(template, files)
  project.provide("migratedStore", template)
  project.provide("storeFiles", files)
  return () => fs.rmSync(folder, { recursive: true })
}
