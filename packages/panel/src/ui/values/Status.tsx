import { classes } from "../classes.ts"
import { capitalize } from "./format.ts"

export type Tone = "ok" | "bad" | "warn" | "live" | "none"

/** Each status's tone. Unlisted statuses are grey. */
const tones: Readonly<Record<string, Tone>> = {
  succeeded: "ok",
  failed: "bad",
  failing: "bad",
  running: "live",
  sending: "live",
  delivered: "ok",
  dropped: "bad",
  up: "ok",
  down: "bad",
  late: "warn",
  warning: "warn",
  active: "ok",
  online: "ok",
  offline: "bad",
  expired: "bad",
  revoked: "bad"
}

export const toneOf = (status: string): Tone => tones[status] ?? "none"

const dots: Readonly<Record<Tone, string>> = {
  ok: "bg-ok text-ok",
  bad: "bg-bad text-bad",
  warn: "bg-warn text-warn",
  live: "bg-live text-live pulse",
  none: "border-[1.5px] border-faint bg-transparent"
}

export const StatusDot = ({ tone }: { readonly tone: Tone }) => (
  <span aria-hidden className={classes("size-2 shrink-0 rounded-full", dots[tone])} />
)

/** Shows a status as a coloured dot and a label, so that colour is never the only signal. */
export const Status = ({
  of,
  tone = toneOf(of),
  children
}: {
  readonly of: string
  readonly tone?: Tone
  readonly children?: string
}) => (
  <span className="inline-flex items-center gap-2 whitespace-nowrap">
    <StatusDot tone={tone} />
    <span className={tone === "bad" ? "text-bad" : undefined}>
      {children ?? capitalize(of.replaceAll("_", " "))}
    </span>
  </span>
)

const badges: Readonly<Record<Tone, string>> = {
  ok: "tint-ok text-ok",
  bad: "tint-bad text-bad",
  warn: "tint-warn text-warn",
  live: "tint-live text-live",
  none: "bg-sunken text-soft"
}

/** A short label in a box, such as an HTTP method, a scope or a role. */
export const Badge = ({
  children,
  tone = "none"
}: {
  readonly children: React.ReactNode
  readonly tone?: Tone
}) => (
  <span
    className={classes(
      "inline-flex h-5 items-center rounded px-1.5 text-xs font-medium whitespace-nowrap",
      badges[tone]
    )}
  >
    {children}
  </span>
)
