import { workerTokenPrefix } from "@scheduling/domain/workers/Worker"
import { Effect, type Option, Schema } from "effect"
import { lstat, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { tmpdir, userInfo } from "node:os"
import { dirname, isAbsolute, join } from "node:path"
import { env } from "node:process"

export const Problem = Schema.Struct({ since: Schema.String, reason: Schema.String })
export type Problem = typeof Problem.Type

/**
 * The content of the status file, which is written after every heartbeat, claim and failed request.
 */
export const Status = Schema.Struct({
  pid: Schema.Int,
  at: Schema.String,
  /** The worker's name. Empty until the first response of the service. */
  worker: Schema.String,
  online: Schema.Boolean,
  running: Schema.Int,
  unsent: Schema.Int,
  done: Schema.Int,
  problem: Schema.NullOr(Problem)
})
export type Status = typeof Status.Type

const StatusText = Schema.fromJsonString(Status)

const ownId = () => process.getuid?.()

/**
 * Returns the folders for the status files of this user's agents. The temporary folder is used if
 * XDG_RUNTIME_DIR is not set. Another user may have created a folder there, so `checkFolder` checks
 * its owner.
 */
const defaultFolders = (): ReadonlyArray<string> => {
  const runtime = env["XDG_RUNTIME_DIR"] ?? ""
  const temporary = join(tmpdir(), `scheduling-agent-${ownId() ?? userInfo().username}`)
  return isAbsolute(runtime) ? [join(runtime, "scheduling-agent"), temporary] : [temporary]
}

/**
 * How many of the token's characters a status file's name contains. They are too few to reveal the
 * token.
 */
const tokenPrefixLength = 12

const namePattern = new RegExp(
  `^${workerTokenPrefix}[\\w-]{${tokenPrefixLength - workerTokenPrefix.length}}\\.json$`
)

export const defaultStatusFile = (token: string): string =>
  join(defaultFolders()[0] ?? tmpdir(), `${token.slice(0, tokenPrefixLength)}.json`)

export const findStatusFiles = Effect.promise(async () => {
  const found = defaultFolders().map(async (folder) =>
    (await readdir(folder).catch(() => []))
      .filter((name) => namePattern.test(name))
      .map((name) => join(folder, name))
  )
  return (await Promise.all(found)).flat()
})

/**
 * Fails if a default folder for status files is owned by or accessible to another user. Folders
 * that the user chose are not checked.
 */
const checkFolder = async (folder: string): Promise<void> => {
  if (!defaultFolders().includes(folder)) return
  const found = await lstat(folder)
  const isOwn = ownId() === undefined || (found.uid === ownId() && (found.mode & 0o077) === 0)
  if (!found.isDirectory() || !isOwn) {
    throw new Error(`${folder} is accessible to other users: remove it, or set --status-file`)
  }
}

/** Replaces the status file. If the file cannot be written, the agent continues. */
export const writeStatus = (file: string, status: Status): Effect.Effect<void> =>
  Effect.ignore(
    Effect.tryPromise(async () => {
      const folder = dirname(file)
      if (defaultFolders().includes(folder)) await mkdir(folder, { mode: 0o700 }).catch(() => {})
      await checkFolder(folder)
      // The name is random, so that another user cannot create a link with this name in advance.
      const temporary = `${file}.${crypto.randomUUID()}`
      try {
        await writeFile(temporary, JSON.stringify(status), { mode: 0o600, flag: "wx" })
        await rename(temporary, file)
      } catch (error) {
        await rm(temporary, { force: true })
        throw error
      }
    })
  )

export const readStatus = (file: string): Effect.Effect<Option.Option<Status>> =>
  Effect.tryPromise(async () => {
    await checkFolder(dirname(file))
    return readFile(file, "utf8")
  }).pipe(Effect.flatMap(Schema.decodeUnknownEffect(StatusText)), Effect.option)

export const isAlive = ({ pid }: Status): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM"
  }
}
