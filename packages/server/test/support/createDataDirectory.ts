import { Effect } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { inject } from "vitest"
import { temporaryFolder } from "./ServerProcess.ts"

/** Creates a data directory that already contains a store. */
export const createDataDirectory = (name: string) =>
  Effect.tap(temporaryFolder(name), (folder) =>
    Effect.promise(() =>
      fs.promises.cp(inject("storeFiles"), path.join(folder, "postgres"), { recursive: true })
    )
  )
