import { callOf } from "./readCrontab.ts"
import {
  convertAll,
  type Converted,
  definedOnly,
  type Fields,
  type Imported,
  isFields,
  makeKeys,
  scheduleProblem,
  type Source
} from "./Imported.ts"

const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

const at = (value: unknown, ...names: ReadonlyArray<string>): unknown =>
  names.reduce<unknown>((one, name) => (isFields(one) ? one[name] : undefined), value)

/** The objects of a manifest, also those in a List. */
const objectsIn = (documents: ReadonlyArray<unknown>): ReadonlyArray<Fields> =>
  documents
    .flatMap((one) => (at(one, "kind") === "List" ? listOf(at(one, "items")) : [one]))
    .filter(isFields)

const commandOf = (container: unknown): string => {
  const words = [...listOf(at(container, "command")), ...listOf(at(container, "args"))].map(String)
  const isShell =
    /^(?:\/bin\/)?(?:ba|da)?sh$/.test(words[0] ?? "") && /^-\w*c$/.test(words[1] ?? "")
  return isShell ? (words[2] ?? "").trim() : words.join(" ")
}

/** Converts a CronJob, whose settings are in `spec`. Other objects are not carried over. */
const convert =
  (keyOf: (name: string) => string) =>
  (source: Source): Converted => {
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
    const containers = listOf(at(spec, "jobTemplate", "spec", "template", "spec", "containers"))
    const call = containers.length === 1 ? callOf(commandOf(containers[0])) : undefined
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
        ? "the CronJob stays; let its container request the ping URL at its end"
        : "remove the CronJob when the task is active",
      ...(left.length === 0 ? [] : [`left out: ${left.toSorted().join(", ")}`])
    ].join("; ")
    return call === undefined
      ? { section: "monitors", record: definedOnly({ kind: "heartbeat", ...common }), notes }
      : { section: "tasks", record: definedOnly({ ...common, ...call, overlap }), notes }
  }

/** The `overlap` that corresponds to a `concurrencyPolicy`. */
const overlaps: ReadonlyMap<string, string> = new Map([
  ["Forbid", "skip"],
  ["Allow", "allow"]
])

/** Reads manifests of Kubernetes. A CronJob that only calls a URL becomes a cron task. */
export const readKubernetes = (documents: ReadonlyArray<unknown>): Imported =>
  convertAll(
    objectsIn(documents),
    (one, index) => `${one["kind"] ?? "document"} ${at(one, "metadata", "name") ?? index + 1}`,
    convert(makeKeys()),
    []
  )
