import type { ChainId, CronTaskId, DelayedTaskId, SchedulingClient } from "@scheduling/sdk"
import { parseIntervalSeconds } from "@scheduling/schedules/Interval"
import { now } from "../clock.ts"
import {
  type Command,
  CommandError,
  exitStatus,
  type CommandArguments,
  UsageError,
  requiredArgument
} from "../Command.ts"
import { formatCell, green, printNote, print, printError, printJson, red } from "../output.ts"
import { parseYaml, readText, toYaml } from "../readInput.ts"
import { makeClient } from "../session.ts"
import { findTask } from "./recordCommands.ts"

const inputOf = (given: CommandArguments): { readonly input?: never } => {
  const text = given.value("input")
  if (text === undefined) return {}
  const path = text.startsWith("@") ? text.slice(1) : undefined
  const input = parseYaml(path === undefined ? text : readText(path), path ?? "--input")
  return { input: input as never }
}

const startRun = (
  client: SchedulingClient,
  { kind, id }: NonNullable<Awaited<ReturnType<typeof findTask>>>,
  body: { readonly input?: never },
  waits: boolean
) => {
  switch (kind) {
    case "cron":
      return waits
        ? client.cron.runAndWait(id as CronTaskId, body)
        : client.cron.run(id as CronTaskId, body)
    case "delayed":
      return waits
        ? client.delayed.runAndWait(id as DelayedTaskId, body)
        : client.delayed.run(id as DelayedTaskId, body)
    case "chains":
      return waits
        ? client.chains.runAndWait(id as ChainId, body)
        : client.chains.run(id as ChainId, body)
  }
}

const run: Command = {
  name: "run",
  summary: "Runs a task or chain now.",
  usage: "KEY_OR_ID",
  words: [1, 1],
  options: {
    input: { value: "JSON", description: "The input of the run, or @FILE. YAML is accepted too." },
    wait: { description: "Waits for the result: status 0 if it succeeded, 1 if not." },
    json: { description: "Prints JSON." }
  },
  details: "Exit status 2 if the run could not be started.",
  examples: [
    "scheduling run reports:nightly",
    "scheduling run reports:nightly --input '{\"full\": true}' --wait"
  ],
  run: async (given) => {
    const client = makeClient()
    const word = requiredArgument(given, 0)
    const task = await findTask(client, word)
    if (task === undefined) {
      printError(`No task or chain has the id, key or name "${word}".`)
      return exitStatus.different
    }
    const waits = given.has("wait")
    const result = await startRun(client, task, inputOf(given), waits)
    if (given.has("json")) printJson(result)
    else if (waits) print(toYaml(result).trimEnd())
    else printNote(`Started ${result.id}.`)
    return waits && result.status !== "succeeded" ? exitStatus.failure : exitStatus.success
  }
}

/** Returns the time that an option gives, as a time or as a duration before now, such as `7d`. */
const timeIn = (given: CommandArguments, name: "from" | "to"): Date => {
  const text = given.value(name)
  if (text === undefined && name === "to") return new Date(now())
  const seconds = parseIntervalSeconds(text ?? "")
  const time = new Date(typeof seconds === "number" ? now() - seconds * 1_000 : (text ?? ""))
  if (Number.isNaN(time.getTime())) {
    throw new UsageError(
      `--${name} must be a time such as 2026-01-31T09:30:00Z, or a duration such as 7d, which means that long ago.`
    )
  }
  return time
}

const backfill: Command = {
  name: "backfill",
  summary: "Runs past slots of a cron task or chain that it missed.",
  usage: "KEY_OR_ID",
  words: [1, 1],
  options: {
    from: {
      value: "TIME",
      description: "The start, inclusive. A duration such as 7d means that long ago."
    },
    to: { value: "TIME", description: "The end, exclusive. Now when absent." },
    only: {
      value: "SLOTS",
      description: "missing (when absent), failed, or all slots, including those that succeeded."
    },
    "dry-run": { description: "Counts the slots and starts nothing." },
    json: { description: "Prints JSON." }
  },
  examples: [
    "scheduling backfill reports:nightly --from 7d --dry-run",
    "scheduling backfill reports:nightly --from 7d --only failed"
  ],
  run: async (given) => {
    const from = timeIn(given, "from")
    const to = timeIn(given, "to")
    const client = makeClient()
    const word = requiredArgument(given, 0)
    const task = await findTask(client, word)
    if (task === undefined || task.kind === "delayed") {
      throw new CommandError(`No cron task or chain has the id, key or name "${word}".`)
    }
    const only = given.value("only")
    const dry_run = given.has("dry-run")
    const request = { from, to, dry_run, ...(only !== undefined && { only: only as "missing" }) }
    const slots = await (task.kind === "cron"
      ? client.cron.backfill(task.id as CronTaskId, request)
      : client.chains.backfill(task.id as ChainId, request))
    if (given.has("json")) printJson(slots)
    else if (slots.count === 0) printNote("No slots to run.")
    else {
      const runs = `${slots.count} ${slots.count === 1 ? "run" : "runs"}`
      const period = `for the slots from ${slots.first} to ${slots.last}`
      printNote(dry_run ? `Would start ${runs} ${period}.` : `Started ${runs} ${period}.`)
    }
    return exitStatus.success
  }
}

interface Line {
  readonly id: string
  readonly kind: string
  readonly status: string
  readonly task_id: string
  readonly scheduled_for?: string | null
  readonly finished_at?: string | null
  readonly duration_ms?: number | null
  readonly status_code?: number | null
  readonly error?: { readonly code: string; readonly message: string } | null
}

const printLine = (given: CommandArguments, line: Line, at: string): void => {
  if (given.has("json")) return printJson(line)
  const color = line.status === "failed" ? red : line.status === "succeeded" ? green : String
  const reason = line.error == null ? "" : ` ${line.error.code}: ${formatCell(line.error.message)}`
  print(
    `${at} ${color(line.status.padEnd(9))} ${line.kind.padEnd(7)} ${line.task_id} ` +
      `${formatCell(line.status_code)} ${line.duration_ms == null ? "-" : `${line.duration_ms} ms`}${reason}`
  )
}

const logs: Command = {
  name: "logs",
  summary: "Shows executions, and with -f new ones as they happen.",
  usage: "[KEY_OR_ID]",
  words: [0, 1],
  options: {
    follow: { short: "f", description: "Shows new executions as they happen." },
    failed: { description: "Shows only failures." },
    limit: { value: "N", description: "Number of past executions. 20 when absent." },
    json: { description: "Prints one JSON object per line." }
  },
  examples: ["scheduling logs", "scheduling logs reports:nightly --failed --limit 5"],
  run: async (given) => {
    const client = makeClient()
    const [word] = given.words
    const task = word === undefined ? undefined : await findTask(client, word)
    if (word !== undefined && task === undefined) {
      throw new CommandError(`No task or chain has the id, key or name "${word}".`)
    }
    const isShown = ({ status, task_id }: Line) =>
      (task === undefined || task_id === task.id) && (!given.has("failed") || status === "failed")
    const since = new Date(now())
    const limit = Math.min(Number(given.value("limit") ?? 20), 100)
    const page = await client.executions.list({
      limit,
      ...(task !== undefined && { task_id: [task.id as never] }),
      ...(given.has("failed") && { status: ["failed"] })
    })
    for (const one of page.data.toReversed()) {
      printLine(given, one, one.finished_at ?? one.scheduled_for)
    }
    if (!given.has("follow")) return exitStatus.success
    for await (const event of client.events.stream({ lastEventId: since })) {
      if (!("execution" in event.data)) continue
      const { execution } = event.data
      if (execution !== null && isShown(execution)) printLine(given, execution, event.created_at)
    }
    return exitStatus.success
  }
}

export const runCommands = [run, backfill, logs]
