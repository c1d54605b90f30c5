import { type Cidr, parseCidr } from "@scheduling/calls/egress/EgressRules"
import { bearerKeyPattern } from "@scheduling/domain/auth/secretPatterns"
import { nearestName } from "@scheduling/domain/shared/nearestName"
import { workerTokenPrefix } from "@scheduling/domain/workers/Worker"
import { maxAgentSlots } from "@scheduling/domain/workers/WorkerProtocol"
import { Redacted, Result, Schema } from "effect"
import { hostname } from "node:os"

export interface Settings {
  readonly url: URL
  readonly token: Redacted.Redacted
  readonly slots: number
  readonly allow: ReadonlyArray<Cidr>
  /**
   * The labels whose runs the agent claims. If undefined, it claims runs for all of the worker's
   * labels.
   */
  readonly labels: ReadonlyArray<string> | undefined
  /** Terms that process monitors are allowed to search for in command lines. */
  readonly watchCommands: ReadonlyArray<string>
  readonly host: string
  readonly drainSeconds: number
  readonly statusFile: string
}

export const PartialSettings = Schema.Struct({
  url: Schema.optionalKey(Schema.String),
  token: Schema.optionalKey(Schema.String),
  slots: Schema.optionalKey(Schema.Finite),
  allow: Schema.optionalKey(Schema.Array(Schema.String)),
  labels: Schema.optionalKey(Schema.Array(Schema.String)),
  watch_commands: Schema.optionalKey(Schema.Array(Schema.String)),
  host: Schema.optionalKey(Schema.String),
  drain_seconds: Schema.optionalKey(Schema.Finite),
  status_file: Schema.optionalKey(Schema.String)
})
export type PartialSettings = typeof PartialSettings.Type

type Environment = Readonly<Record<string, string | undefined>>

/** Reads the settings from environment variables. Lists are comma-separated. */
export const readEnvironment = (environment: Environment): PartialSettings => {
  const text = (name: string) => environment[name]?.trim() || undefined
  const list = (name: string) =>
    text(name)
      ?.split(",")
      .map((part) => part.trim())
      .filter((part) => part !== "")
  const number = (name: string) => (text(name) === undefined ? undefined : Number(text(name)))
  return dropUndefined({
    url: text("SCHEDULING_URL"),
    token: text("SCHEDULING_WORKER_TOKEN"),
    slots: number("SCHEDULING_SLOTS"),
    allow: list("SCHEDULING_ALLOW"),
    labels: list("SCHEDULING_LABELS"),
    watch_commands: list("SCHEDULING_WATCH_COMMANDS"),
    host: text("SCHEDULING_HOST"),
    drain_seconds: number("SCHEDULING_DRAIN_SECONDS"),
    status_file: text("SCHEDULING_STATUS_FILE")
  })
}

/** Returns a warning for each variable whose name looks like a misspelled setting. */
export const findMisspelledSettings = (environment: Environment): ReadonlyArray<string> =>
  Object.keys(environment).flatMap((name) => {
    if (settingNames.has(name) || kubernetesVariables.has(name)) return []
    const meant = nearestName(name, settingNames, () => 2)
    return meant === undefined ? [] : [`${name} is not a setting; did you mean ${meant}?`]
  })

/** Removes undefined settings, so that they do not override values of later sources. */
export const dropUndefined = (fields: {
  readonly [Name in keyof PartialSettings]: PartialSettings[Name] | undefined
}): PartialSettings =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

/** The names of the variables that `readEnvironment` reads. */
const settingNames: ReadonlySet<string> = (() => {
  const names = new Set<string>()
  readEnvironment(new Proxy({}, { get: (_, name) => void names.add(String(name)) }))
  return names
})()

/** Variables that Kubernetes sets in a namespace with a Service named `scheduling`. */
const kubernetesVariables: ReadonlySet<string> = new Set(["SCHEDULING_PORT"])

/** Removes a trailing `/v1`, because the protocol's paths start with it. */
const removeVersion = (url: URL | null): URL | null =>
  url === null ? null : URL.parse(url.href.replace(/\/+$/, "").replace(/\/+v1$/, ""))

const longestDrainSeconds = 3_600

/** Merges the sources. Earlier sources override later ones. */
export const mergeSettings = (sources: ReadonlyArray<PartialSettings>): PartialSettings =>
  Object.assign({}, ...sources.toReversed())

const tokenPattern = new RegExp(`^${bearerKeyPattern(workerTokenPrefix)}$`)

/** Validates all settings. Fails with a list of all problems. */
export const resolveSettings = (
  sources: ReadonlyArray<PartialSettings>,
  defaultStatusFile: (token: string) => string
): Result.Result<Settings, ReadonlyArray<string>> => {
  const merged = mergeSettings(sources)
  const problems: Array<string> = []
  const url = removeVersion(URL.parse(merged.url ?? ""))
  if (merged.url === undefined) {
    problems.push("the address of the service is missing: set --url or SCHEDULING_URL")
  } else if (url === null || !["http:", "https:"].includes(url.protocol)) {
    problems.push(`${merged.url} is not an http or https URL`)
  }
  const token = merged.token ?? ""
  if (token === "") {
    problems.push("the worker's token is missing: set --token-file or SCHEDULING_WORKER_TOKEN")
  } else if (!tokenPattern.test(token)) {
    problems.push(
      `the token is not a worker token: a worker token is ${workerTokenPrefix} followed by 43 characters`
    )
  }
  const slots = merged.slots ?? 16
  if (!Number.isInteger(slots) || slots < 1 || slots > maxAgentSlots) {
    problems.push(`slots must be a whole number from 1 to ${maxAgentSlots}`)
  }
  const drainSeconds = merged.drain_seconds ?? 30
  if (!(drainSeconds >= 0 && drainSeconds <= longestDrainSeconds)) {
    problems.push(`drain-seconds must be from 0 to ${longestDrainSeconds}`)
  }
  const allow: Array<Cidr> = []
  for (const text of merged.allow ?? []) {
    const cidr = parseCidr(text)
    if (Result.isSuccess(cidr)) allow.push(cidr.success)
    else problems.push(cidr.failure)
  }
  if (url === null || problems.length > 0) return Result.fail(problems)
  return Result.succeed({
    url,
    token: Redacted.make(token, { label: "worker_token" }),
    slots,
    allow,
    labels: merged.labels,
    watchCommands: merged.watch_commands ?? [],
    host: merged.host ?? hostname(),
    drainSeconds,
    statusFile: merged.status_file ?? defaultStatusFile(token)
  })
}
