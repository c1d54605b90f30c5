import type { MonitorStatus } from "@scheduling/sdk"
import { useInfiniteQuery } from "@tanstack/react-query"
import type { listOptions } from "../data/queries.ts"
import { type OldestResult, oldestResultOf } from "./history.ts"

interface Event {
  readonly at: string
  readonly status: MonitorStatus
}

/**
 * Returns a monitor's oldest loaded event. Undefined while events are loading. Pass `createdAt` for
 * a monitor that is checked from its creation onwards.
 */
export const useOldestResult = <A extends Event>(
  options: ReturnType<typeof listOptions<A>>,
  createdAt?: string
): OldestResult | undefined => {
  const { data, hasNextPage, isPending } = useInfiniteQuery(options)
  if (isPending) return undefined
  const isAll = data !== undefined && !hasNextPage
  const oldest = oldestResultOf(data?.pages.flatMap((page) => page.data) ?? [], isAll)
  return isAll || createdAt === undefined ? oldest : { at: createdAt, isFirst: false }
}
