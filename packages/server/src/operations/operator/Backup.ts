import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import * as fs from "node:fs/promises"
import * as path from "node:path"

/**
 * The parts of a data directory that a backup contains. The rest belongs to the running process.
 */
export const backedUp = ["postgres", "app-secret"] as const

/**
 * Copies the embedded store while it runs. It has one session, and nothing is written while that
 * has an open transaction. Everything acknowledged before is on disk by then, so the copy is like
 * the disk after a power cut, which PostgreSQL recovers from its log. All requests wait for the
 * copy, so a checkpoint comes first, and the copy shares its blocks with the original where the
 * file system can.
 */
export const backUp = Effect.fnUntraced(function* (
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
    // Nobody may find half a backup under the name of a complete one.
    const unfinished = `${to}.unfinished`
    await fs.mkdir(unfinished, { mode: 0o700 })
    try {
      for (const name of backedUp) {
        await copy(path.join(dataDir, name), path.join(unfinished, name))
      }
      await fs.rename(unfinished, to)
    } catch (error) {
      await fs.rm(unfinished, { recursive: true, force: true })
      throw error
    }
  })

/** Copies files and folders with their modes. */
export const copy = async (from: string, to: string): Promise<void> => {
  const there = await fs.stat(from).catch(() => undefined)
  if (there === undefined) return
  await fs.cp(from, to, { recursive: true, mode: fs.constants.COPYFILE_FICLONE })
}
