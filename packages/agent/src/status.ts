import { Effect, type Option, Schema } from "effect"
import { readFile, rename, writeFile } from "node:fs/promises"
import { tmpdir, userInfo } from "node:os"
import { join } from "node:path"

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

/** Agents of one user have different workers, which are known by the beginning of their tokens. */
export const defaultStatusFile = (token: string): string =>
  join(tmpdir(), `${defaultName()}${token.slice(0, 12)}.json`)

export const isDefaultStatusFile = (name: string): boolean =>
  name.startsWith(defaultName()) && /^pwk_[\w-]{8}\.json$/.test(name.slice(defaultName().length))

const defaultName = () => `scheduling-agent-${userInfo().username}-`

/** Whole or not at all. An agent that cannot write it works all the same. */
export const writeStatus = (file: string, status: Status): Effect.Effect<void> =>
  Effect.ignore(
    Effect.tryPromise(async () => {
      const draft = `${file}.${status.pid}`
      await writeFile(draft, JSON.stringify(status), { mode: 0o600 })
      await rename(draft, file)
    })
  )

export const readStatus = (file: string): Effect.Effect<Option.Option<Status>> =>
  Effect.tryPromise(() => readFile(file, "utf8")).pipe(
    Effect.flatMap(Schema.decodeUnknownEffect(StatusText)),
    Effect.option
  )

/** Whether the process that wrote the status is still there. */
export const isAlive = ({ pid }: Status): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM"
  }
}
