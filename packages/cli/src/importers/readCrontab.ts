import {
  documentOfRecords,
  type Fields,
  type ImportResult,
  makeUniqueKeys,
  type RecordReport,
  scheduleProblem
} from "./ImportResult.ts"

interface Options {
  readonly timezone: string
  readonly isSystem: boolean
}

const assignment = /^\s*(\w+)\s*=\s*(.*?)\s*$/
const nicknames = /^@(?:hourly|daily|midnight|weekly|monthly|yearly|annually)$/

/** Converts a crontab to tasks, and reports the result of every line. */
export const readCrontab = (text: string, { isSystem, timezone: zone }: Options): ImportResult => {
  const reports: Array<RecordReport> = []
  const tasks: Array<Fields> = []
  const monitors: Array<Fields> = []
  const keyOf = makeUniqueKeys()
  let timezone = zone
  let shell = "sh"
  for (const [index, raw] of text.split("\n").entries()) {
    const report = (outcome: string) => void reports.push({ source: `line ${index + 1}`, outcome })
    const line = raw.trim()
    if (line === "") continue
    if (line.startsWith("#")) {
      report("a comment, left out")
      continue
    }
    const [, name, value = ""] = assignment.exec(line) ?? []
    if (name !== undefined) {
      if (name === "CRON_TZ" || name === "TZ") timezone = unquoted(value)
      if (name === "SHELL") shell = unquoted(value)
      report(
        name === "CRON_TZ" || name === "TZ" ? `the time zone is ${timezone}` : `${name} is left out`
      )
      continue
    }
    const entry = entryOf(line, isSystem)
    if (typeof entry === "string") {
      report(entry)
      continue
    }
    const { command, schedule } = entry
    const key = keyOf(programOf(command))
    const common = {
      key,
      name: command.slice(0, 200),
      schedule,
      ...(timezone !== "UTC" && { timezone })
    }
    const call = callFromCommand(command)
    if (call === undefined) {
      monitors.push({ kind: "heartbeat", ...common })
      const watched = isOneProgram(command) ? command : `${shell} -c ${quoted(command)}`
      report(`a heartbeat monitor; write in the crontab: scheduling exec ${key} -- ${watched}`)
    } else {
      tasks.push({ ...common, ...call })
      report(`the cron task ${key}`)
    }
  }
  return { document: documentOfRecords(tasks, monitors), reports }
}

const unquoted = (text: string) => text.replace(/^(["'])(.*)\1$/, "$2")

const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`

/**
 * True if a command is one program with arguments and redirections, which `exec` can start. Of
 * `cd /srv && ./job`, `exec` would start `cd`, and the job itself would not run or not be watched.
 */
const isOneProgram = (command: string): boolean =>
  !/^(?:\w+=|(?:\.|!|cd|eval|exec|export|source|umask)\s)/.test(command) &&
  !/[;&|()`]/.test(command.replaceAll(/>&|&>/g, ">"))

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
  const problem = scheduleProblem(schedule)
  if (problem !== undefined) return `not carried over: ${problem}`
  if (words.length <= count + (isSystem ? 1 : 0)) return "not carried over: it has no command"
  if (/(?<!\\)%/.test(command)) {
    return "not carried over: a % begins the standard input of the command"
  }
  return { schedule, command }
}

/**
 * Converts a command that only requests a URL to a call. Returns undefined for a command with a
 * pipe or other options, which is then not converted.
 */
export const callFromCommand = (command: string): Fields | undefined => {
  const [, url] =
    /^(?:\S*\/)?(?:curl(?:\s+(?:-[fsSLk]+|--(?:fail|silent|show-error|location)|(?:-m|--max-time|--connect-timeout|--retry)\s+\d+|-o\s*\/dev\/null))*|wget(?:\s+(?:-q|-qO-|-O\s*\S+|--quiet))*)\s+["']?(https?:\/\/[^\s"'|;&>]+)["']?(?:\s*>\s*\/dev\/null(?:\s+2>&1)?)?$/.exec(
      command
    ) ?? []
  if (url === undefined) return undefined
  const timeout = numberAfter(command, /\s(?:-m|--max-time)\s+(\d+)/)
  const retries = numberAfter(command, /\s--retry\s+(\d+)/)
  return {
    url,
    method: "GET",
    ...(timeout > 0 && { timeout_seconds: Math.min(timeout, 300) }),
    ...(retries > 0 && { retry_count: Math.min(retries, 10) })
  }
}

const numberAfter = (command: string, option: RegExp): number =>
  Number(option.exec(command)?.[1] ?? 0)

/**
 * Returns the name of the program that a command runs. The record's key is derived from this name.
 */
const programOf = (command: string): string => {
  const program = command
    .split(/\s+/)
    .find((word) => !/^-|=|^(?:cd|\/bin\/sh|sh|bash|env|nice|test|\[)$/.test(word))
  return (program ?? "job").replaceAll(/["']/g, "").split("/").at(-1) ?? "job"
}
