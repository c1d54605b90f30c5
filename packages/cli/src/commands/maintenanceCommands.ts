import { parseIntervalSeconds } from "@scheduling/schedules/Interval"
import type { MaintenanceWindow } from "@scheduling/sdk"
import { now } from "../clock.ts"
import {
  type Command,
  CommandError,
  type CommandArguments,
  exitStatus,
  requiredArgument,
  UsageError
} from "../Command.ts"
import { printJson, printNote } from "../output.ts"
import { ifFound, makeClient } from "../session.ts"

const durationMs = (given: CommandArguments): number => {
  const seconds = parseIntervalSeconds(given.value("for") ?? "")
  if (typeof seconds === "string") throw new UsageError(`--for ${seconds}.`)
  return seconds * 1_000
}

const selectionOf = (given: CommandArguments) => {
  const everything = given.has("everything")
  const lists = {
    tags: given.values("tag"),
    monitor_keys: given.values("monitor"),
    task_keys: given.values("task")
  }
  if (!everything && Object.values(lists).every(({ length }) => length === 0)) {
    throw new UsageError("--tag, --monitor, --task or --everything is required.")
  }
  return { everything, ...lists }
}

const rejectSchedule = ({ key, schedule }: MaintenanceWindow): void => {
  if (schedule === null) return
  throw new CommandError(`The maintenance window "${key}" follows a schedule. Use another key.`)
}

const start: Command = {
  name: "maintenance start",
  summary: "Starts maintenance now, before a deployment for instance.",
  usage: "KEY",
  words: [1, 1],
  options: {
    for: {
      value: "DURATION",
      description: "When the maintenance ends without `stop`, such as 30m."
    },
    tag: {
      value: "TAG",
      multiple: true,
      description: "A tag of monitors and tasks that are in maintenance. May be repeated."
    },
    monitor: {
      value: "KEY",
      multiple: true,
      description: "A monitor that is in maintenance. May be repeated."
    },
    task: {
      value: "KEY",
      multiple: true,
      description: "A cron task or chain that is in maintenance. May be repeated."
    },
    everything: { description: "All monitors and tasks are in maintenance." },
    json: { description: "Prints JSON." }
  },
  details:
    "Creates the maintenance window with the key, or replaces it unless it follows a schedule.",
  examples: [
    "scheduling maintenance start deploy --for 30m --tag web",
    "scheduling maintenance start deploy --for 1h30m --everything --json"
  ],
  run: async (given) => {
    const key = requiredArgument(given, 0)
    const ms = durationMs(given)
    const selection = selectionOf(given)
    const { maintenance } = makeClient()
    const known = await ifFound(maintenance.get(key))
    if (known !== undefined) rejectSchedule(known)
    const window = await maintenance.upsert(key, {
      name: known?.name ?? key,
      starts_at: new Date(now()),
      ends_at: new Date(now() + ms),
      ...selection
    })
    if (given.has("json")) printJson(window)
    else printNote(`Started maintenance until ${window.ends_at}.`)
    return exitStatus.success
  }
}

const stop: Command = {
  name: "maintenance stop",
  summary: "Ends maintenance that is in progress.",
  usage: "KEY",
  words: [1, 1],
  examples: [
    "scheduling maintenance stop deploy",
    'scheduling maintenance stop deploy && echo "Failures open incidents again."'
  ],
  run: async (given) => {
    const key = requiredArgument(given, 0)
    const { maintenance } = makeClient()
    const window = await maintenance.get(key)
    rejectSchedule(window)
    if (window.is_active) {
      await maintenance.upsert(key, { ...window, ends_at: new Date(now()) })
      printNote("Ended maintenance.")
    } else printNote(`The maintenance "${key}" is not in progress.`)
    return exitStatus.success
  }
}

export const maintenanceCommands: ReadonlyArray<Command> = [start, stop]
