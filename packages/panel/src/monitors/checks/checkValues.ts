import type { HttpMonitor } from "@scheduling/sdk"
import { parseLabels } from "../../workers/runOnValues.ts"

/** A monitor's check settings as form values. */
export interface CheckValues {
  readonly interval_seconds: number | null
  readonly timeout_seconds: string
  readonly confirm_after: string
  readonly recover_after: string
  /** Worker labels, with one place per line. Null means that the service checks the target. */
  readonly places: string | null
  readonly down_when: HttpMonitor["down_when"]
}

/** The labels for how many places must report a failure before a check fails. */
export const failureThresholdLabels = {
  any: "any place",
  majority: "more than half of the places",
  all: "all places"
} as const

type CheckSettings = Pick<
  HttpMonitor,
  | "confirm_after"
  | "down_when"
  | "interval_seconds"
  | "places"
  | "recover_after"
  | "timeout_seconds"
>

export const parsePlaces = (text: string) =>
  text
    .split("\n")
    .map((line) => ({ labels: parseLabels(line) }))
    .filter(({ labels }) => labels.length > 0)

export const newCheckValues: CheckValues = {
  interval_seconds: 60,
  timeout_seconds: "10",
  confirm_after: "2",
  recover_after: "1",
  places: null,
  down_when: "majority"
}

export const checkValuesOf = (monitor: CheckSettings): CheckValues => ({
  interval_seconds: monitor.interval_seconds,
  timeout_seconds: String(monitor.timeout_seconds),
  confirm_after: String(monitor.confirm_after),
  recover_after: String(monitor.recover_after),
  places: monitor.places?.map(({ labels }) => labels.join(", ")).join("\n") ?? null,
  down_when: monitor.down_when
})

export const checkInputOf = (values: CheckValues): CheckSettings => ({
  interval_seconds: values.interval_seconds ?? 0,
  timeout_seconds: Number(values.timeout_seconds),
  confirm_after: Number(values.confirm_after),
  recover_after: Number(values.recover_after),
  places: values.places === null ? null : parsePlaces(values.places),
  down_when: values.down_when
})
