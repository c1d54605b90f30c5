import { NotFoundError, type SchedulingClient } from "@scheduling/sdk"
import { spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { constants } from "node:os"
import { env } from "node:process"
import { setTimeout } from "node:timers/promises"
import { type Command, type CommandArguments, UsageError, requiredArgument } from "../Command.ts"
import { printError } from "../output.ts"
import { makeClient } from "../session.ts"
import { OutputTail } from "./OutputTail.ts"

/** The timeout of each request to the service. */
const attemptMs = 5_000

/** The pauses before the attempts to report the end of a job. The command waits for all attempts. */
const pausesMs = [0, 1_000, 3_000]

const message = (error: unknown) => (error instanceof Error ? error.message : String(error))

/** Prints why a report to the service failed. This never changes the job's exit status. */
const warn = (what: string, error: unknown) => printError(`${what}: ${message(error)}`)

const timingOf = (given: CommandArguments) => {
  const schedule = given.value("schedule")
  const every = given.value("every")
  if (schedule !== undefined) return { schedule, timezone: given.value("tz") ?? "UTC" }
  if (every === undefined)
    throw new UsageError("--create needs --every SECONDS or --schedule CRON.")
  const period_seconds = Number(every)
  if (!Number.isInteger(period_seconds))
    throw new UsageError("--every must be a whole number of seconds.")
  return { period_seconds }
}

const create = (client: SchedulingClient, key: string, given: CommandArguments) =>
  client.heartbeatMonitors.upsert(key, { name: key, ...timingOf(given) } as never)

/** Returns the heartbeat's ping URL, which is a secret. */
const findPingUrl = async (given: CommandArguments): Promise<string> => {
  const known = given.value("ping-url") ?? env["SCHEDULING_PING_URL"]
  if (known !== undefined && known !== "") return known.replace(/\/$/, "")
  const key = requiredArgument(given, 0)
  const client = makeClient({ timeoutMs: attemptMs })
  const monitor = await client.heartbeatMonitors
    .get(`key:${key}` as never, { maxRetries: 0 })
    .catch((error: unknown) => {
      if (!(error instanceof NotFoundError) || !given.has("create")) throw error
      return create(client, key, given)
    })
  if (monitor.ping_url === null || monitor.ping_url === undefined) {
    throw new Error("the credential cannot read the ping URL; it needs the scope monitors:write")
  }
  return monitor.ping_url
}

const ping = async (url: string, signal: string, rid: string, body?: string): Promise<void> => {
  const response = await fetch(`${url}/${signal}?rid=${rid}`, {
    method: "POST",
    ...(body !== undefined && body !== "" && { body, headers: { "content-type": "text/plain" } }),
    signal: AbortSignal.timeout(attemptMs)
  })
  await response.arrayBuffer()
  if (!response.ok) throw new Error(`the service responded with ${response.status}`)
}

/** The signals that are forwarded to the job. */
const signals = [
  "SIGINT",
  "SIGTERM",
  "SIGHUP",
  "SIGQUIT",
  "SIGUSR1",
  "SIGUSR2",
  "SIGCONT"
] as const satisfies ReadonlyArray<NodeJS.Signals>

interface Ended {
  readonly code: number
  readonly signal: NodeJS.Signals | null
}

/** Runs the command with this process's streams, environment and signals. */
const runJob = async (
  command: ReadonlyArray<string>,
  tail: OutputTail,
  isCaptured: boolean
): Promise<Ended> => {
  const [program = "", ...args] = command
  const output = isCaptured ? "pipe" : "inherit"
  // The handlers are installed before the job starts, because a signal can arrive immediately.
  const forward = (signal: NodeJS.Signals) => {
    // The terminal has already sent this signal to the job.
    if (signal === "SIGINT" && process.stdin.isTTY === true) return
    job.kill(signal)
  }
  for (const signal of signals) process.on(signal, forward)
  const job = spawn(program, args, { stdio: ["inherit", output, output] })
  for (const [from, to] of [
    [job.stdout, process.stdout],
    [job.stderr, process.stderr]
  ] as const) {
    from?.on("data", (chunk: Buffer) => tail.add(chunk))
    from?.pipe(to, { end: false })
  }
  try {
    const ended = await new Promise<Ended>((resolve) => {
      job.once("exit", (code, signal) => resolve({ code: code ?? statusOf(signal), signal }))
      job.once("error", (error: NodeJS.ErrnoException) => {
        printError(`${program} cannot be started: ${error.message}`)
        resolve({ code: error.code === "ENOENT" ? 127 : 126, signal: null })
      })
    })
    // A process that the job left behind may keep its output open.
    if (job.pid !== undefined && isCaptured) {
      await Promise.race([once(job, "close"), setTimeout(closeMs)]).catch(() => {})
      job.stdout?.destroy()
      job.stderr?.destroy()
    }
    return ended
  } finally {
    for (const signal of signals) process.off(signal, forward)
  }
}

const closeMs = 500

/** Returns the exit status that a shell reports for a process that a signal has ended. */
const statusOf = (signal: NodeJS.Signals | null) =>
  128 + (signal === null ? 0 : constants.signals[signal])

/** Reports that the job has ended, even if the service was unreachable when the job started. */
const reportEnd = async (
  known: Promise<string | undefined>,
  given: CommandArguments,
  ended: Ended,
  rid: string,
  tail: OutputTail
): Promise<void> => {
  for (const [attempt, pauseMs] of pausesMs.entries()) {
    await setTimeout(pauseMs)
    try {
      const url = (await known) ?? (await findPingUrl(given))
      return await ping(url, String(Math.min(ended.code, 255)), rid, tail.text())
    } catch (error) {
      if (attempt === pausesMs.length - 1) warn("The end of the job was not reported", error)
    }
  }
}

export const exec: Command = {
  name: "exec",
  summary: "Runs a job and pings a heartbeat monitor at its start and end.",
  usage: "KEY -- COMMAND [ARGUMENT...]",
  words: [0, 1],
  options: {
    create: { description: "Creates the monitor if it does not exist." },
    every: { value: "SECONDS", description: "With --create: how often the job runs." },
    schedule: { value: "CRON", description: "With --create: when the job runs." },
    tz: { value: "ZONE", description: "The time zone of --schedule. Defaults to UTC." },
    "ping-url": {
      value: "URL",
      description: "The ping URL, instead of KEY and a credential (SCHEDULING_PING_URL)."
    },
    "no-output": { description: "Does not send the last 10 kB of the output." }
  },
  details:
    "The job starts immediately and runs whether or not the service can be reached. Its exit status\nis that of the command; if a signal ends the command, the same signal ends this one.",
  examples: [
    "scheduling exec backup -- sh -c 'echo done'",
    "scheduling exec cleanup --create --every 3600 -- true"
  ],
  run: async (given) => {
    if (given.rest.length === 0) throw new UsageError("Use: scheduling exec KEY -- COMMAND")
    if (given.has("create")) timingOf(given)
    const rid = randomUUID()
    const tail = new OutputTail()
    const url = findPingUrl(given).catch((error: unknown) => {
      warn("The job runs without its monitor", error)
      return undefined
    })
    const started = url
      .then((known) => (known === undefined ? undefined : ping(known, "start", rid)))
      .catch((error: unknown) => warn("The start of the job was not reported", error))
    // The output is not captured if it goes to a terminal, because many programs show no colors and
    // no progress when they write to a pipe.
    const isCaptured = !given.has("no-output") && process.stdout.isTTY !== true
    const ended = await runJob(given.rest, tail, isCaptured)
    await started
    await reportEnd(url, given, ended, rid, tail)
    if (ended.signal !== null) {
      process.kill(process.pid, ended.signal)
      // Some signals, such as SIGCONT, do not end the process.
      await setTimeout(100)
    }
    return ended.code
  }
}
