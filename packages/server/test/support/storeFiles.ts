import { execFileSync } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import type { TestProject } from "vitest/node"
import { initializeTemplate } from "../../src/sql/embedded/initialize.ts"
import { readTemplate } from "../../src/sql/embedded/template.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** The files of a new store, to be copied to `postgres` in a data directory. */
    readonly storeFiles: string
  }
}

/**
 * Unpacks a new store once, for all tests that start a server and are not about making its store.
 * Making one takes 2.7 s of CPU time.
 */
export default async function setup(project: TestProject): Promise<() => void> {
  const template = await initializeTemplate(AbortSignal.timeout(60_000))
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "scheduling-store-"))
  execFileSync("tar", ["-x", "-f", "-", "-C", folder], {
    input: readTemplate(template),
    stdio: ["pipe", "ignore", "ignore"]
  })
  project.provide("storeFiles", folder)
  return () => fs.rmSync(folder, { recursive: true })
}
