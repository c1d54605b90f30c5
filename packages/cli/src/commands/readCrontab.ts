import { readSchedule } from "@scheduling/schedules/readSchedule"

interface Options {
  readonly timezone: string
  readonly isSystem: boolean
}

interface Report {
  readonly line: number
  readonly text: string
}

type Fields = Readonly<Record<string, unknown>>

export interface Crontab {
  readonly document: Fields
  /** The result for each line, in the order of the lines. */
  readonly lines: ReadonlyArray<Report>
}

const assignment = /^\s*(\w+)\s*=\s*(.*?)\s*$/
const nicknames = /^@(?:hourly|daily|midnight|weekly|monthly|yearly|annually)$/

/** Converts a crontab to tasks, and reports the result of every line. */
export const readCrontab = (text: string, { isSystem, timezone: zone }: Options): Crontab => {
  const lines: Array<Report> = []
  const tasks: Array<Fields> = []
  const monitors: Array<Fields> = []
  const keys = new Set<string>()
  let timezone = zone
  for (const [index, raw] of text.split("\n").entries()) {
    const say = (what: string) => void lines.push({ line: index + 1, text: what })
    const line = raw.trim()
    if (line === "") continue
    if (line.startsWith("#")) {
      say("a comment, left out")
      continue
    }
    const [, name, value = ""] = assignment.exec(line) ?? []
    if (name !== undefined) {
      if (name === "CRON_TZ" || name === "TZ") timezone = unquoted(value)
      say(
        name === "CRON_TZ" || name === "TZ" ? `the time zone is ${timezone}` : `${name} is left out`
      )
      continue
    }
    const entry = entryOf(line, isSystem)
    if (typeof entry === "string") {
      say(entry)
      continue
    }
    const { command, schedule } = entry
    const key = freeKey(command, keys)
    const common = {
      key,
      name: command.slice(0, 200),
      schedule,
      ...(timezone !== "UTC" && { timezone })
    }
    const call = callOf(command)
    if (call === undefined) {
      monitors.push({ kind: "heartbeat", ...common })
      say(`a heartbeat monitor; write in the crontab: scheduling exec ${key} -- ${command}`)
    } else {
      tasks.push({ ...common, ...call })
      say(`the cron task ${key}`)
    }
  }
  const document = {
    version: 1,
    ...(tasks.length > 0 && { tasks }),
    ...(monitors.length > 0 && { monitors })
  }
  return { document, lines }
}

const unquoted = (text: string) => text.replace(/^(["'])(.*)\1$/, "$2")

const entryOf = (
  line: string,
  isSystem: boolean
): { readonly schedule: string; readonly command: string } | string => {
  const words = line.split(/\s+/)
  const isNickname = line.startsWith("@")
  const count = isNickname ? 1 : 5
  const schedule = words
    .slice(0, count)
    .join(" ")
    .replace("@midnight", "@daily")
    .replace("@annually", "@yearly")
  const command = line
    .replace(new RegExp(`^(?:\\S+\\s+){${count + (isSystem ? 1 : 0)}}`), "")
    .trim()
  if (isNickname && !nicknames.test(words[0] ?? "")) {
    return `not carried over: ${words[0]} is not a time`
  }
  const reading = readSchedule(schedule)
  if (!reading.ok) {
    return `not carried over: ${reading.issues.map(({ message }) => message).join("; ")}`
  }
  if (words.length <= count + (isSystem ? 1 : 0)) return "not carried over: it has no command"
  if (/(?<!\\)%/.test(command)) {
    return "not carried over: a % begins the standard input of the command"
  }
  return { schedule, command }
}

/**
 * Converts a plain `curl` or `wget` of a URL to a call. A command with a pipe or other options
 * stays a command.
 */
const callOf = (command: string): Fields | undefined => {
  const [, url] =
    /^(?:\S*\/)?(?:curl(?:\s+-(?:[fsSLk]+|-fail|-silent|-show-error|-location))*|wget(?:\s+(?:-q|-qO-|-O\s*\S+|--quiet))*)\s+["']?(https?:\/\/[^\s"'|;&>]+)["']?(?:\s*>\s*\/dev\/null(?:\s+2>&1)?)?$/.exec(
      command
    ) ?? []
  return url === undefined ? undefined : { url, method: "GET" }
}

/** Returns a key derived from the program's name, with a number if the key is taken. */
const freeKey = (command: string, keys: Set<string>): string => {
  const program = command
    .split(/\s+/)
    .find((word) => !/^-|=|^(?:cd|\/bin\/sh|sh|bash|env|nice|test|\[)$/.test(word))
  const last = (program ?? "job").replaceAll(/["']/g, "").split("/").at(-1) ?? "job"
  const base =
    last
      .replaceAll(/[^A-Za-z0-9._~:@-]+/g, "-")
      .replace(/^[^A-Za-z0-9]+/, "")
      .slice(0, 60) || "job"
  let key = base
  for (let number = 2; keys.has(key); number++) key = `${base}-${number}`
  keys.add(key)
  return key
}
