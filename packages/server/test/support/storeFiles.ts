import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import type { TestProject } from "vitest/node"
import { migratedTemplate, unpack } from "./migratedStore.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** The packed files of a store that is migrated. */
    readonly migratedStore: string
    /** The same unpacked, to be copied to `postgres` in a data directory. */
    readonly storeFiles: string
  }
}

/** For all tests that use a store and are not about making it. */
export default async function setup(project: TestProject): Promise<() => void> {
  const template = await migratedTemplate()
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "scheduling-store-"))
  const files = path.join(folder, "postgres")
  unpack(template, files)
  project.provide("migratedStore", template)
  project.provide("storeFiles", files)
  return () => fs.rmSync(folder, { recursive: true })
}
