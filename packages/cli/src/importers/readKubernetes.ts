import { callFromCommand } from "./readCrontab.ts"
import {
  convertRecords,
  type ConversionResult,
  definedOnly,
  type Fields,
  type ImportResult,
  isFields,
  makeUniqueKeys,
  scheduleProblem,
  type RecordReader
} from "./ImportResult.ts"

const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

const fieldAt = (value: unknown, ...names: ReadonlyArray<string>): unknown =>
  names.reduce<unknown>((one, name) => (isFields(one) ? one[name] : undefined), value)

/** Returns the objects of a manifest, including the objects in a List. */
const objectsIn = (documents: ReadonlyArray<unknown>): ReadonlyArray<Fields> =>
  documents
    .flatMap((one) => (fieldAt(one, "kind") === "List" ? listOf(fieldAt(one, "items")) : [one]))
    .filter(isFields)

const commandOf = (container: unknown): string => {
  const words = [
    ...listOf(fieldAt(container, "command")),
    ...listOf(fieldAt(container, "args"))
  ].map(String)
  const isShell =
    /^(?:\/bin\/)?(?:ba|da)?sh$/.test(words[0] ?? "") && /^-\w*c$/.test(words[1] ?? "")
  return isShell ? (words[2] ?? "").trim() : words.join(" ")
}

/** Converts a CronJob, whose settings are in `spec`. Other objects are not converted. */
const convert =
  (keyOf: (name: string) => string) =>
  (source: RecordReader): ConversionResult => {
    const kind = source.text("kind")
    source.take("apiVersion")
    source.take("status")
    const metadata = source.object("metadata")
    const spec = source.object("spec")
    if (kind !== "CronJob") return `a ${kind || "document without a kind"}`
    const schedule = String(spec["schedule"] ?? "")
    const [, inline, expression = ""] = /^(?:(?:CRON_)?TZ=(\S+)\s+)?(.*)$/.exec(schedule) ?? []
    const problem = scheduleProblem(expression)
    if (problem !== undefined) return `${schedule}: ${problem}`
    const zone = spec["timeZone"] ?? inline
    const containers = listOf(
      fieldAt(spec, "jobTemplate", "spec", "template", "spec", "containers")
    )
    const call = containers.length === 1 ? callFromCommand(commandOf(containers[0])) : undefined
    const name = String(metadata["name"] ?? "job")
    const common = {
      key: keyOf(name),
      name: name.slice(0, 200),
      schedule: expression,
      timezone: zone === undefined || zone === "UTC" ? undefined : zone,
      paused: spec["suspend"] === true ? true : undefined
    }
    const policy = String(spec["concurrencyPolicy"])
    const overlap = call === undefined ? undefined : overlaps.get(policy)
    const read = ["jobTemplate", "schedule", "suspend", "timeZone"]
    const known = new Set(overlap === undefined ? read : [...read, "concurrencyPolicy"])
    const left = Object.keys(spec).filter((field) => !known.has(field))
    const notes = [
      call === undefined
        ? "the CronJob stays; let its container request the ping URL when it finishes"
        : "remove the CronJob when the task is active",
      ...(left.length === 0 ? [] : [`left out: ${left.toSorted().join(", ")}`])
    ].join("; ")
    return call === undefined
      ? { section: "monitors", record: definedOnly({ kind: "heartbeat", ...common }), notes }
      : { section: "tasks", record: definedOnly({ ...common, ...call, overlap }), notes }
  }

/** The value of `overlap` for each `concurrencyPolicy`. */
const overlaps: ReadonlyMap<string, string> = new Map([
  ["Forbid", "skip"],
  ["Allow", "allow"]
])

/** Reads manifests of Kubernetes. A CronJob that only calls a URL becomes a cron task. */
export const readKubernetes = (documents: ReadonlyArray<unknown>): ImportResult =>
  convertRecords(
    objectsIn(documents),
    (one, index) => `${one["kind"] ?? "document"} ${fieldAt(one, "metadata", "name") ?? index + 1}`,
    convert(makeUniqueKeys()),
    []
  )
