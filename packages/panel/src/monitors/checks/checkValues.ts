import type { HttpMonitor } from "@scheduling/sdk"

/** A monitor's check settings as form values. */
export interface CheckValues {
  readonly interval_seconds: number | null
  readonly timeout_seconds: string
  readonly confirm_after: string
  readonly recover_after: string
}

type CheckSettings = Pick<
  HttpMonitor,
  "confirm_after" | "interval_seconds" | "recover_after" | "timeout_seconds"
>

export const newChecks: CheckValues = {
  interval_seconds: 60,
  timeout_seconds: "10",
  confirm_after: "2",
  recover_after: "1"
}

export const checkValuesOf = (monitor: CheckSettings): CheckValues => ({
  interval_seconds: monitor.interval_seconds,
  timeout_seconds: String(monitor.timeout_seconds),
  confirm_after: String(monitor.confirm_after),
  recover_after: String(monitor.recover_after)
})

export const checkInputOf = (values: CheckValues): CheckSettings => ({
  interval_seconds: values.interval_seconds ?? 0,
  timeout_seconds: Number(values.timeout_seconds),
  confirm_after: Number(values.confirm_after),
  recover_after: Number(values.recover_after)
})
