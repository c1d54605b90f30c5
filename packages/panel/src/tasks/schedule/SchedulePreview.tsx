import { ValidationError, type DstOverlap, type PreviewedFire } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { useDeferredValue } from "react"
import { useWorkspace } from "../../data/client.ts"
import { classes } from "../../ui/classes.ts"
import { Problem } from "../../ui/messages/Problem.tsx"
import { Badge } from "../../ui/values/Status.tsx"
import { Ago } from "../../ui/values/Time.tsx"
import { previewOptions } from "../cron/queries.ts"
import type { slotQueryOf } from "./firingOptionValues.ts"
import { inWords } from "./inWords.ts"

/** When a schedule will fire, while it is typed. */
export const SchedulePreview = ({
  dstOverlap,
  isRefused,
  schedule,
  slots = { precision: "minute" },
  timezone
}: {
  readonly schedule: string
  readonly timezone: string
  readonly dstOverlap: DstOverlap
  /** Whether a field says already what is wrong. */
  readonly isRefused: boolean
  /** Which slots count. All where nothing is said. */
  readonly slots?: ReturnType<typeof slotQueryOf>
}) => {
  const { workspaceId } = useWorkspace()
  const asked = useDeferredValue(schedule.trim())
  const { data, error, isFetching } = useQuery(
    previewOptions(workspaceId, {
      schedule: asked,
      timezone: timezone.trim() || "UTC",
      dst_overlap: dstOverlap,
      ...slots,
      count: 6
    })
  )
  if (asked === "") return null
  if (error instanceof ValidationError) {
    return isRefused ? null : (
      <p role="alert" className="text-sm text-bad">
        {error.detail.issues.map(({ message }) => message).join(" ")}
      </p>
    )
  }
  if (error !== null) return <Problem error={error} />
  return (
    <div
      aria-live="polite"
      aria-busy={isFetching}
      className="rounded-lg border border-line bg-sunken/50 px-3.5 py-3"
    >
      <p className="font-medium">{inWords(asked)}</p>
      <ol className="mt-2 flex flex-col gap-1">
        {data?.data.map((fire) => (
          <Fire key={fire.at + fire.clock_change} fire={fire} />
        ))}
      </ol>
    </div>
  )
}

const changes = {
  moved: ["moved", "Clocks skip this time of day. It fires right after."],
  doubled: ["twice", "Clocks go back, so this time of day comes twice. It fires both times."],
  dropped: [
    "left out",
    "Clocks go back, so this time of day comes twice. It fires the first time only."
  ]
} as const

/** `2026-03-29T03:30:00+02:00` as `Sun 29 Mar, 03:30 +02:00`. */
const onItsClock = (local: string): string => {
  const [, day = "", time = "", offset = ""] =
    /^([\d-]+)T(\d\d:\d\d(?::(?!00)\d\d)?)[^+\-Z]*(.*)$/.exec(local) ?? []
  const date = new Date(`${day}T00:00:00Z`)
  const words = date.toLocaleDateString("en-GB", {
    weekday: "short",
    day: "numeric",
    month: "short",
    timeZone: "UTC"
  })
  return `${words}, ${time} ${offset === "Z" ? "UTC" : offset}`
}

const Fire = ({ fire }: { readonly fire: PreviewedFire }) => {
  const { at, clock_change, excluded = false, local } = fire
  const change = excluded
    ? (["no run", "This day is excluded."] as const)
    : clock_change === null
      ? undefined
      : changes[clock_change]
  return (
    <li className="flex flex-wrap items-center gap-x-3 text-sm">
      <span
        className={classes("nums w-52", (excluded || clock_change === "dropped") && "line-through")}
      >
        {onItsClock(local)}
      </span>
      {change === undefined ? (
        <Ago at={at} className="text-faint" />
      ) : (
        <>
          <Badge tone="warn">{change[0]}</Badge>
          <span className="text-faint">{change[1]}</span>
        </>
      )}
    </li>
  )
}
