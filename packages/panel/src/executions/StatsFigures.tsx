import type { ExecutionsGetStatsQuery } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { useWorkspace } from "../data/client.ts"
import { Figure, Figures } from "../ui/layout/Figure.tsx"
import { count, duration, percent } from "../ui/values/format.ts"
import { EmptyValue } from "../ui/values/Time.tsx"
import { executionQueries } from "./queries.ts"

/** Shows the statistics of one task or of all tasks, over the last 24 hours by default. */
export const StatsFigures = ({ query }: { readonly query: ExecutionsGetStatsQuery }) => {
  const { workspaceId } = useWorkspace()
  const { data } = useQuery(executionQueries.stats(workspaceId, query))
  const { counts, duration_ms, lateness_ms, success_rate } = data?.totals ?? {}
  const orNone = <A,>(value: A | null | undefined, text: (value: A) => string) =>
    data === undefined ? undefined : value == null ? <EmptyValue /> : text(value)
  return (
    <Figures>
      <Figure
        name="Success rate"
        note="of the runs that succeeded or failed"
        value={orNone(success_rate, percent)}
      />
      <Figure
        name="Runs"
        note={counts && `${count(counts.failed)} failed`}
        value={orNone(counts, ({ failed, succeeded }) => count(succeeded + failed))}
      />
      <Figure
        name="Median duration"
        note={duration_ms ? `p99 ${duration(duration_ms.p99)}` : "of the finished runs"}
        value={orNone(duration_ms, ({ p50 }) => duration(p50))}
      />
      <Figure
        name="Median lateness"
        note={lateness_ms ? `p99 ${duration(lateness_ms.p99)}` : "of the started runs"}
        value={orNone(lateness_ms, ({ p50 }) => duration(p50))}
      />
    </Figures>
  )
}
