import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import * as fs from "node:fs/promises"
import * as path from "node:path"

/**
 * The parts of a data directory that a backup contains. All other files belong to the running
 * process.
 */
export const backupParts = ["postgres", "app-secret"] as const

/**
 * Copies the embedded store while it runs. The store has only one session, so nothing else is
 * written while this session has an open transaction. By then, all acknowledged changes are on
 * disk. The copy is therefore like a disk after a power failure, from which PostgreSQL recovers
 * with its WAL. All requests wait for the copy. To keep it short, a checkpoint runs first, and the
 * copy shares blocks with the original if the file system supports it.
 */
export const backUpStore = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { dataDir, to }: { readonly dataDir: string; readonly to: string }
) {
  yield* sql`CHECKPOINT`
  yield* Effect.andThen(sql`SELECT 1`, copyInto(dataDir, to)).pipe(sql.withTransaction)
  return `The backup is in ${to}.`
}, Effect.orDie)

const copyInto = (dataDir: string, to: string) =>
  Effect.promise(async () => {
    await fs.mkdir(path.dirname(to), { recursive: true })
    // The folder gets its final name last, so that an incomplete backup cannot be mistaken for a
    // complete one.
    const unfinished = `${to}.unfinished`
    await fs.mkdir(unfinished, { mode: 0o700 })
    try {
      for (const name of backupParts) {
        await copyIfExists(path.join(dataDir, name), path.join(unfinished, name))
      }
      await fs.rename(unfinished, to)
    } catch (error) {
      await fs.rm(unfinished, { recursive: true, force: true })
      throw error
    }
  })

/** Copies a file, or a folder with its content. Does nothing if it does not exist. */
export const copyIfExists = async (from: string, to: string): Promise<void> => {
  const there = await fs.stat(from).catch(() => undefined)
  if (there === undefined) return
  await fs.cp(from, to, { recursive: true, mode: fs.constants.COPYFILE_FICLONE })
}
