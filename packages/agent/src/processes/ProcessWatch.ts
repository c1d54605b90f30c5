import { maxShownPids } from "@scheduling/domain/monitors/process/ProcessMonitor"
import type { ProcessObservation, WatchedProcess } from "@scheduling/domain/workers/WorkerProtocol"
import { readdir, readFile } from "node:fs/promises"
import { maskSecretArguments } from "./maskSecretArguments.ts"
import { readPidFile } from "./readPidFile.ts"

export interface ObservedProcess {
  readonly pid: number
  readonly name: string
  readonly commandLine: string
  readonly rssBytes: number
  readonly cpuSeconds: number
}

/** The unit of times in `/proc` is always a hundredth of a second. */
const ticksPerSecond = 100

/**
 * The maximum number of characters that are read of a command line, which can be megabytes long.
 */
const readCharacters = 4_096

/**
 * Parses `/proc/<pid>/stat`, `cmdline` and `status`, or returns undefined for a dead process. The
 * name is in parentheses and can contain parentheses, so the other fields are counted from the last
 * one.
 */
export const parseProcess = (
  pid: number,
  stat: string,
  commandLine: string,
  status: string
): ObservedProcess | undefined => {
  const end = stat.lastIndexOf(")")
  const fields = stat.slice(end + 2).split(" ")
  const [state] = fields
  if (end === -1 || state === undefined || state === "Z" || state === "X") return undefined
  return {
    pid,
    name: stat.slice(stat.indexOf("(") + 1, end),
    commandLine: commandLine.slice(0, readCharacters).replaceAll("\0", " ").trim(),
    rssBytes: Number(/^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1_024,
    cpuSeconds: (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / ticksPerSecond
  }
}

const readProcess = async (pid: number): Promise<ObservedProcess | undefined> => {
  try {
    const [stat, commandLine, status] = await Promise.all([
      readFile(`/proc/${pid}/stat`, "utf8"),
      readFile(`/proc/${pid}/cmdline`, "utf8"),
      readFile(`/proc/${pid}/status`, "utf8")
    ])
    return parseProcess(pid, stat, commandLine, status)
  } catch {
    // The process has exited, or the current user has no permission to see it.
    return undefined
  }
}

const readAll = async (): Promise<ReadonlyArray<ObservedProcess>> => {
  const names = await readdir("/proc").catch(() => [])
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number)
  const seen: Array<ObservedProcess> = []
  // Reading in batches saves file descriptors when there are thousands of processes.
  for (let at = 0; at < pids.length; at += 50) {
    const some = await Promise.all(pids.slice(at, at + 50).map(readProcess))
    seen.push(...some.filter((one) => one !== undefined))
  }
  return seen
}

/**
 * Returns whether a process has the wanted name. The kernel truncates names to 15 characters, so a
 * longer name is compared with the command line.
 */
const hasName = ({ commandLine, name }: ObservedProcess, wanted: string) =>
  name === wanted ||
  (wanted.length > 15 &&
    wanted.startsWith(name) &&
    commandLine.split(" ", 1)[0]?.split("/").at(-1) === wanted)

/**
 * Command lines with this flag start an agent. Their arguments contain the search terms, which
 * would otherwise match.
 */
const watchCommandFlag = "--watch-command"

/**
 * Finds the processes that match a monitor. The agent never matches its own command line. Secrets
 * are masked before matching, because otherwise a user could guess them from the number of matches.
 */
export const findMatching = (
  processes: ReadonlyArray<ObservedProcess>,
  { command_contains, name }: WatchedProcess["match"],
  pid: number | undefined,
  ownPid: number
): ReadonlyArray<ObservedProcess> =>
  processes.filter((one) => {
    if (name !== undefined) return hasName(one, name)
    if (command_contains !== undefined) {
      return (
        one.pid !== ownPid &&
        one.commandLine.includes(command_contains) &&
        !one.commandLine.includes(watchCommandFlag) &&
        maskSecretArguments(one.commandLine).includes(command_contains)
      )
    }
    return one.pid === pid
  })

interface EarlierTimes {
  readonly atMs: number
  readonly cpuSeconds: ReadonlyMap<number, number>
}

/** Without `/proc` the agent reports nothing, because reporting zero processes would be wrong. */
const canRead = process.platform === "linux"

/** The minimum time between two reads of all processes, because a read takes CPU time. */
const minReadIntervalMs = 1_000

const maxPidReads = 50

/**
 * The timeout for reading a pid file. After the timeout, the monitor counts no process. Reads hang
 * if the file is on an unreachable network drive.
 */
const pidReadTimeoutMs = 5_000

export class ProcessWatch {
  #watched: ReadonlyArray<WatchedProcess> = []
  readonly #earlier = new Map<string, EarlierTimes>()
  readonly #dueMs = new Map<string, number>()
  readonly #reports = new Map<string, ProcessObservation>()
  #isReading = false
  #readAgainAtMs = -Infinity
  /**
   * The reads of pid files that are in progress. A file whose read hangs is not read again, because
   * each read blocks a thread.
   */
  readonly #pidReads = new Map<string, Promise<number | undefined>>()
  readonly #commands: ReadonlySet<string>
  readonly #read: () => Promise<ReadonlyArray<ObservedProcess>>
  readonly #readPid: (file: string) => Promise<number | undefined>

  constructor(
    commands: ReadonlyArray<string>,
    read: () => Promise<ReadonlyArray<ObservedProcess>> = readAll,
    readPid: (file: string) => Promise<number | undefined> = readPidFile
  ) {
    this.#commands = new Set(commands)
    this.#read = read
    this.#readPid = readPid
  }

  watch(watched: ReadonlyArray<WatchedProcess>): void {
    this.#watched = watched
    const ids = new Set(watched.map(({ monitor_id }) => String(monitor_id)))
    for (const kept of [this.#dueMs, this.#earlier, this.#reports]) {
      for (const id of kept.keys()) if (!ids.has(id)) kept.delete(id)
    }
  }

  /** Returns the latest observation of each monitor since the last call. */
  takeReports(): ReadonlyArray<ProcessObservation> {
    const reports = [...this.#reports.values()]
    this.#reports.clear()
    return reports
  }

  restMs(nowMs: number): number {
    if (!canRead) return Infinity
    const dueMs = this.#watched.map(({ monitor_id }) => this.#dueMs.get(monitor_id) ?? nowMs)
    return Math.max(0, Math.max(Math.min(...dueMs), this.#readAgainAtMs) - nowMs)
  }

  async observe(nowMs: number): Promise<ReadonlyArray<ProcessObservation>> {
    if (!canRead || nowMs < this.#readAgainAtMs) return []
    const due = this.#watched.filter(
      ({ monitor_id }) => (this.#dueMs.get(monitor_id) ?? -Infinity) <= nowMs
    )
    for (const { interval_seconds, monitor_id } of due) {
      // Timers fire late, so half a second is subtracted to keep the average interval.
      this.#dueMs.set(monitor_id, nowMs + interval_seconds * 1_000 - 500)
    }
    if (due.length === 0 || this.#isReading) return []
    this.#isReading = true
    this.#readAgainAtMs = nowMs + minReadIntervalMs
    try {
      const processes = await this.#read()
      const seen = await Promise.all(due.map((one) => this.#observeOne(one, processes, nowMs)))
      const reports = seen.filter(({ monitor_id }) => this.#dueMs.has(monitor_id))
      for (const one of reports) this.#reports.set(one.monitor_id, one)
      return reports
    } finally {
      this.#isReading = false
    }
  }

  async #observeOne(
    { match, monitor_id }: WatchedProcess,
    processes: ReadonlyArray<ObservedProcess>,
    nowMs: number
  ): Promise<ProcessObservation> {
    if (match.command_contains !== undefined && !this.#commands.has(match.command_contains)) {
      return { monitor_id, ...notAllowed }
    }
    const pid = match.pid_file === undefined ? undefined : await this.#readPidFile(match.pid_file)
    const found = findMatching(processes, match, pid, process.pid)
    const before = this.#earlier.get(monitor_id)
    this.#earlier.set(monitor_id, {
      atMs: nowMs,
      cpuSeconds: new Map(found.map((one) => [one.pid, one.cpuSeconds]))
    })
    return {
      monitor_id,
      count: found.length,
      rss_bytes: found.reduce((sum, one) => sum + one.rssBytes, 0),
      cpu_percent: before === undefined ? null : cpuPercent(found, before, nowMs),
      pids: found.slice(0, maxShownPids).map((one) => one.pid)
    }
  }

  async #readPidFile(file: string): Promise<number | undefined> {
    if (this.#pidReads.size >= maxPidReads && !this.#pidReads.has(file)) return undefined
    const read =
      this.#pidReads.get(file) ?? this.#readPid(file).finally(() => this.#pidReads.delete(file))
    this.#pidReads.set(file, read)
    const { promise: late, resolve } = Promise.withResolvers<undefined>()
    const timer = setTimeout(resolve, pidReadTimeoutMs)
    return Promise.race([read, late]).finally(() => clearTimeout(timer))
  }
}

/**
 * The report for a search term that the agent's settings do not allow. Arbitrary search terms would
 * let a user guess the arguments of other programs character by character.
 */
const notAllowed = {
  count: 0,
  rss_bytes: 0,
  cpu_percent: null,
  pids: [],
  refused: "not_allowed"
} as const

/**
 * Computes the CPU usage of the processes as a percentage of one core. CPU time used before the
 * first observation of a process is not counted.
 */
const cpuPercent = (found: ReadonlyArray<ObservedProcess>, before: EarlierTimes, nowMs: number) => {
  const seconds = (nowMs - before.atMs) / 1_000
  if (seconds <= 0) return null
  const usedSeconds = found.reduce((sum, { cpuSeconds, pid }) => {
    const earlier = before.cpuSeconds.get(pid)
    return earlier === undefined ? sum : sum + Math.max(0, cpuSeconds - earlier)
  }, 0)
  return Math.round((usedSeconds / seconds) * 1_000) / 10
}
