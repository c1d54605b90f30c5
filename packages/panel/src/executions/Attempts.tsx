import type { Attempt, ExecutionDetail } from "@scheduling/sdk"
import { classes } from "../ui/classes.ts"
import { useNow } from "../ui/values/clock.ts"
import { Code } from "../ui/values/Code.tsx"
import {
  formatDuration,
  formatExactTimeOfDay,
  formatPreciseTimeOfDay,
  needMilliseconds
} from "../ui/values/format.ts"
import { indentJson } from "../ui/values/indentJson.ts"
import { Card } from "../ui/layout/Page.tsx"
import { Badge, type Tone } from "../ui/values/Status.tsx"
import { AttemptRequestAndHeaders, AttemptPhases } from "./AttemptDetails.tsx"
import { toneOfStatusCode } from "./ExecutionList.tsx"
import { describeError } from "../ui/values/describeError.ts"

const bars: Readonly<Record<Tone, string>> = {
  ok: "bg-ok",
  bad: "bg-bad",
  warn: "bg-warn",
  live: "bg-live",
  none: "bg-edge"
}

const toneOf = ({ error, finished_at, status_code }: Attempt, isFinished: boolean): Tone => {
  if (finished_at === null) return isFinished ? "warn" : "live"
  if (error !== null) return "bad"
  return status_code === null ? "none" : toneOfStatusCode(status_code)
}

export const Attempts = ({ execution }: { readonly execution: ExecutionDetail }) => {
  const now = useNow()
  const { attempts, finished_at, scheduled_for, started_at } = execution
  if (attempts.length === 0) {
    return (
      <Card className="px-5 py-4 text-soft">
        {finished_at === null ? "The execution is queued." : "No call was made."}
      </Card>
    )
  }
  const isPrecise = needMilliseconds(attempts.map((attempt) => attempt.started_at))
  const begin = Date.parse(started_at ?? scheduled_for)
  const end = Math.max(finished_at === null ? now : Date.parse(finished_at), begin + 1)
  const position = (at: number) =>
    `${Math.min(100, Math.max(0, ((at - begin) / (end - begin)) * 100))}%`
  return (
    <Card className="divide-y divide-line">
      {attempts.map((attempt) => {
        const from = Date.parse(attempt.started_at)
        const isFinished = finished_at !== null
        const to = attempt.finished_at === null ? end : Date.parse(attempt.finished_at)
        const tone = toneOf(attempt, isFinished)
        return (
          <details key={attempt.number} className="group" open={attempt.number === attempts.length}>
            <summary className="flex list-none items-center gap-4 px-5 py-3 hover:bg-sunken/60 [&::-webkit-details-marker]:hidden">
              <span className="w-5 shrink-0 nums text-faint">{attempt.number}</span>
              <span className="relative h-2 grow rounded-full bg-sunken" aria-hidden>
                <span
                  className={classes("absolute inset-y-0 min-w-1 rounded-full", bars[tone])}
                  style={{ left: position(from), right: `calc(100% - ${position(to)})` }}
                />
              </span>
              <span className="min-w-16 shrink-0 text-right whitespace-nowrap nums">
                {attempt.finished_at === null && isFinished ? "lost" : formatDuration(to - from)}
              </span>
              <span className="w-12 shrink-0 text-right">
                {attempt.status_code !== null && (
                  <Badge tone={toneOfStatusCode(attempt.status_code)}>{attempt.status_code}</Badge>
                )}
              </span>
            </summary>
            <div className="flex flex-col gap-3 px-5 pb-5">
              <p className="text-sm text-faint">
                Started at{" "}
                {(isPrecise ? formatPreciseTimeOfDay : formatExactTimeOfDay)(attempt.started_at)}
                {attempt.number > 1 && `, ${formatDuration(from - begin)} after the first attempt`}.
              </p>
              <AttemptPhases attempt={attempt} />
              {/* The status code is shown above. */}
              {attempt.error !== null && attempt.error.code !== "http_status" && (
                <p className="text-bad">{describeError(attempt.error.message)}</p>
              )}
              {attempt.response_body !== null && attempt.response_body !== "" && (
                <Code
                  wrap
                  label={`response to attempt ${attempt.number}`}
                  text={indentJson(attempt.response_body)}
                />
              )}
              <AttemptRequestAndHeaders attempt={attempt} />
            </div>
          </details>
        )
      })}
    </Card>
  )
}
