import { workerTokenPrefix } from "@scheduling/domain/workers/Worker"
import { Effect, type Option, Schema } from "effect"
import { lstat, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { tmpdir, userInfo } from "node:os"
import { dirname, isAbsolute, join } from "node:path"
import { env } from "node:process"

/** Since when the service is not reached, and why not. */
export const Trouble = Schema.Struct({ since: Schema.String, reason: Schema.String })
export type Trouble = typeof Trouble.Type

/** What a running agent leaves for `status` to read, at every beat and claim, and in trouble. */
export const Status = Schema.Struct({
  pid: Schema.Int,
  at: Schema.String,
  /** Empty until the service has answered for the first time. */
  worker: Schema.String,
  online: Schema.Boolean,
  running: Schema.Int,
  unsent: Schema.Int,
  done: Schema.Int,
  trouble: Schema.NullOr(Trouble)
})
export type Status = typeof Status.Type

const StatusText = Schema.fromJsonString(Status)

const ownId = () => process.getuid?.()

/**
 * Where agents of this user leave their status. Not every system has the folder for what runs, and
 * among the temporary files others may make what has the name of ours.
 */
const defaultFolders = (): ReadonlyArray<string> => {
  const runtime = env["XDG_RUNTIME_DIR"] ?? ""
  const temporary = join(tmpdir(), `scheduling-agent-${ownId() ?? userInfo().username}`)
  return isAbsolute(runtime) ? [join(runtime, "scheduling-agent"), temporary] : [temporary]
}

/** How much of a token names its status, and shows nothing of the secret that matters. */
const namedBy = 12

const nameForm = new RegExp(
  `^${workerTokenPrefix}[\\w-]{${namedBy - workerTokenPrefix.length}}\\.json$`
)

/** Agents of one user have different workers, which are known by the beginning of their tokens. */
export const defaultStatusFile = (token: string): string =>
  join(defaultFolders()[0] ?? tmpdir(), `${token.slice(0, namedBy)}.json`)

/** Those of all agents that this user runs or ran. */
export const findStatusFiles = Effect.promise(async () => {
  const found = defaultFolders().map(async (folder) =>
    (await readdir(folder).catch(() => []))
      .filter((name) => nameForm.test(name))
      .map((name) => join(folder, name))
  )
  return (await Promise.all(found)).flat()
})

/** What somebody else has put there is neither written to nor believed. */
const checkFolder = async (folder: string): Promise<void> => {
  if (!defaultFolders().includes(folder)) return
  const found = await lstat(folder)
  const isOwn = ownId() === undefined || (found.uid === ownId() && (found.mode & 0o077) === 0)
  if (!found.isDirectory() || !isOwn) {
    throw new Error(`${folder} is not a folder of this user alone`)
  }
}

/** Whole or not at all. An agent that cannot write it works all the same. */
export const writeStatus = (file: string, status: Status): Effect.Effect<void> =>
  Effect.ignore(
    Effect.tryPromise(async () => {
      const folder = dirname(file)
      if (defaultFolders().includes(folder)) await mkdir(folder, { mode: 0o700 }).catch(() => {})
      await checkFolder(folder)
      // Nobody knows its name before, and a link in its place is not followed.
      const draft = `${file}.${crypto.randomUUID()}`
      try {
        await writeFile(draft, JSON.stringify(status), { mode: 0o600, flag: "wx" })
        await rename(draft, file)
      } catch (error) {
        await rm(draft, { force: true })
        throw error
      }
    })
  )

export const readStatus = (file: string): Effect.Effect<Option.Option<Status>> =>
  Effect.tryPromise(async () => {
    await checkFolder(dirname(file))
    return readFile(file, "utf8")
  }).pipe(Effect.flatMap(Schema.decodeUnknownEffect(StatusText)), Effect.option)

/** Whether the process that wrote the status is still there. */
export const isAlive = ({ pid }: Status): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM"
  }
}
