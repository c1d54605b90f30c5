import type { ChainId, CronTaskId, Trigger, TriggerInput } from "@scheduling/sdk"
import {
  type Command,
  CommandError,
  exitStatus,
  type CommandArguments,
  UsageError,
  requiredArgument
} from "../Command.ts"
import { printNote, print, printJson } from "../output.ts"
import { readText } from "../readInput.ts"
import { makeClient } from "../session.ts"
import { findTask } from "./recordCommands.ts"

/** Finds the trigger URL of the cron task or chain that the first argument names. */
const findTrigger = async (given: CommandArguments) => {
  const client = makeClient()
  const word = requiredArgument(given, 0)
  const task = await findTask(client, word)
  if (task === undefined || task.kind === "delayed") {
    throw new CommandError(`No cron task or chain has the id, key or name "${word}".`)
  }
  return task.kind === "cron"
    ? triggerOf(client.cron, task.id as CronTaskId)
    : triggerOf(client.chains, task.id as ChainId)
}

/** The operations on triggers that cron tasks and chains have. */
interface Triggers<Id> {
  readonly setTrigger: (id: Id, input: TriggerInput) => Promise<Trigger>
  readonly getTrigger: (id: Id) => Promise<Trigger>
  readonly rotateTriggerUrl: (id: Id) => Promise<Trigger>
  readonly deleteTrigger: (id: Id) => Promise<void>
}

const triggerOf = <Id>(tasks: Triggers<Id>, id: Id) => ({
  set: (input: TriggerInput) => tasks.setTrigger(id, input),
  get: () => tasks.getTrigger(id),
  rotate: () => tasks.rotateTriggerUrl(id),
  remove: () => tasks.deleteTrigger(id)
})

const senders = ["standard_webhooks", "github", "stripe", "slack"] as const

const signatureOf = (given: CommandArguments) => {
  const named = given.value("sender")
  if (named === undefined) return {}
  const sender = senders.find((one) => one === named)
  if (sender === undefined) throw new UsageError(`--sender must be one of ${senders.join(", ")}.`)
  return { signature: { sender, secret: readText("-").replace(/\r?\n$/, "") } }
}

/** Prints a trigger's URL or, with `--json`, the whole trigger as JSON. */
const show = (given: CommandArguments, trigger: Trigger): number => {
  if (given.has("json")) printJson(trigger)
  else if (trigger.url === null) printNote("The trigger URL is off, or you may not run the task.")
  else print(trigger.url)
  return exitStatus.success
}

const json = { json: { description: "Prints JSON." } }

const create: Command = {
  name: "trigger create",
  summary: "Turns on the trigger URL of a cron task or chain, and prints it.",
  usage: "KEY_OR_ID",
  words: [1, 1],
  options: {
    sender: {
      value: "SENDER",
      description:
        "The sender whose signature requests must have: standard_webhooks, github, stripe or slack. The secret comes from standard input."
    },
    ...json
  },
  details: "A URL that exists is kept. Without --sender, requests need no signature.",
  examples: [
    "scheduling trigger create reports:nightly",
    "scheduling trigger create day:close --sender github < secret.txt"
  ],
  run: async (given) => {
    const signature = signatureOf(given)
    const trigger = await findTrigger(given)
    return show(given, await trigger.set(signature))
  }
}

const get: Command = {
  name: "trigger get",
  summary: "Prints the trigger URL of a cron task or chain.",
  usage: "KEY_OR_ID",
  words: [1, 1],
  options: json,
  examples: ["scheduling trigger get reports:nightly", "scheduling trigger get day:close --json"],
  run: async (given) => {
    const trigger = await findTrigger(given)
    return show(given, await trigger.get())
  }
}

const rotate: Command = {
  name: "trigger rotate",
  summary: "Replaces the trigger URL of a cron task or chain, and prints the new one.",
  usage: "KEY_OR_ID",
  words: [1, 1],
  options: json,
  details: "The old URL stops working immediately.",
  examples: [
    "scheduling trigger rotate reports:nightly",
    "scheduling trigger rotate day:close --json"
  ],
  run: async (given) => {
    const trigger = await findTrigger(given)
    return show(given, await trigger.rotate())
  }
}

const remove: Command = {
  name: "trigger delete",
  summary: "Turns off the trigger URL of a cron task or chain.",
  usage: "KEY_OR_ID",
  words: [1, 1],
  examples: [
    "scheduling trigger delete reports:nightly",
    'scheduling trigger delete day:close && echo "It was turned off."'
  ],
  run: async (given) => {
    const trigger = await findTrigger(given)
    await trigger.remove()
    printNote(`Turned off the trigger URL of ${requiredArgument(given, 0)}.`)
    return exitStatus.success
  }
}

export const triggerCommands: ReadonlyArray<Command> = [create, get, rotate, remove]
