import { NodeFS } from "@electric-sql/pglite/nodefs"
import { PGlite } from "@electric-sql/pglite"
import { Effect, References } from "effect"
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { initializeTemplate } from "../../src/store/embedded/initialize.ts"
import { memoryStartParams } from "../../src/store/embedded/settings.ts"
import { readDatabaseTemplate, writeTemplate } from "../../src/store/embedded/template.ts"
import { embeddedLayer } from "../../src/store/Sql.ts"
import { createPartitions } from "./emptyDatabase.ts"

/**
 * Returns the packed files of a migrated store, including its history's partitions. Creates them
 * every day, if they are missing, and whenever the code that creates them has changed. Starting
 * from these files saves 2 s of CPU time.
 */
export const migratedTemplate = async (): Promise<string> => {
  const empty = await initializeTemplate(AbortSignal.timeout(60_000))
  const folder = path.dirname(empty)
  const file = path.join(folder, `migrated-${keyOf(empty)}.template`)
  if (readDatabaseTemplate(file) !== undefined) return file
  removeOld(folder)
  const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), "scheduling-migrated-"))
  try {
    const directory = path.join(dataDir, "postgres")
    unpackTemplate(empty, directory)
    await Effect.runPromise(
      createPartitions.pipe(
        Effect.provide(embeddedLayer({ dataDir })),
        Effect.provideService(References.MinimumLogLevel, "Warn")
      )
    )
    const pg = await PGlite.create({
      fs: new NodeFS(directory),
      startParams: memoryStartParams
    })
    const tar = await pg.dumpDataDir("none")
    await pg.close()
    writeTemplate(file, new Uint8Array(await tar.arrayBuffer()))
  } finally {
    fs.rmSync(dataDir, { recursive: true })
  }
  return file
}

export const unpackTemplate = (template: string, directory: string): void => {
  fs.mkdirSync(directory, { mode: 0o700 })
  execFileSync("tar", ["-x", "-f", "-", "-C", directory], {
    input: readDatabaseTemplate(template),
    stdio: ["pipe", "ignore", "ignore"]
  })
}

const server = path.join(import.meta.dirname, "../../src")

/** The code that creates tables and partitions. */
const creators = ["store/migrations/**/*.ts", "engine/Partitions.ts", "engine/history/*.ts"]

const keyOf = (empty: string): string => {
  const hash = createHash("sha256").update(path.basename(empty))
  for (const creator of creators) {
    const names = fs.globSync(creator, { cwd: server }).toSorted()
    if (names.length === 0) throw new Error(`No file in ${server} matches ${creator}.`)
    for (const name of names) hash.update(fs.readFileSync(path.join(server, name)))
  }
  return hash.update(new Date().toISOString().slice(0, 10)).digest("hex").slice(0, 12)
}

/** Removes old templates. Another test run may still be using a recent one. */
const removeOld = (folder: string): void => {
  for (const name of fs.readdirSync(folder)) {
    const file = path.join(folder, name)
    const age = Date.now() - fs.statSync(file).mtimeMs
    if (name.startsWith("migrated-") && age > 3_600_000) fs.rmSync(file, { force: true })
  }
}
