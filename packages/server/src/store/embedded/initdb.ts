/**
 * Creates the files of a new store: `node initdb.ts directory <empty directory>` or `node initdb.ts
 * template <file>`.
 *
 * This script runs in a separate process, because initdb runs nearly all of PostgreSQL once, and
 * optimizing that code doubles the peak memory: 1060 MB instead of 560 MB. V8 can disable the
 * optimizer only for a whole process, and a store that serves requests needs it.
 */
import { PGlite } from "@electric-sql/pglite"
import { NodeFS } from "@electric-sql/pglite/nodefs"
import * as fs from "node:fs"
import * as path from "node:path"
import * as v8 from "node:v8"
import { initDbStartParams, memoryStartParams } from "./settings.ts"
import { writeTemplate } from "./template.ts"

for (const flag of ["--no-wasm-tier-up", "--no-wasm-dynamic-tiering"]) v8.setFlagsFromString(flag)

const createDirectory = async (directory: string): Promise<void> => {
  // This fails if a later start has removed the directory, because NodeFS would create it again.
  fs.accessSync(directory)
  const files = new NodeFS(directory)
  const pg = await PGlite.create({
    fs: files,
    initDbStartParams,
    startParams: memoryStartParams
  })
  await pg.close()
  syncTree(directory)
}

const createTemplate = async (file: string): Promise<void> => {
  const pg = await PGlite.create({ initDbStartParams, startParams: memoryStartParams })
  const tar = await pg.dumpDataDir("none")
  writeTemplate(file, new Uint8Array(await tar.arrayBuffer()))
}

const syncTree = (directory: string): void => {
  for (const entry of fs.readdirSync(directory, { withFileTypes: true })) {
    const child = path.join(directory, entry.name)
    if (entry.isDirectory()) syncTree(child)
    else syncPath(child)
  }
  syncPath(directory)
}

const syncPath = (target: string): void => {
  const fd = fs.openSync(target, "r")
  try {
    fs.fsyncSync(fd)
  } finally {
    fs.closeSync(fd)
  }
}

const [kind, target = ""] = process.argv.slice(2)
const created = kind === "template" ? createTemplate(target) : createDirectory(target)
created.then(
  () => process.exit(0),
  (cause: unknown) => {
    fs.writeSync(2, cause instanceof Error ? cause.message : String(cause))
    process.exit(1)
  }
)
