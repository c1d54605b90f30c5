import type { MonitorStatus } from "@scheduling/sdk"
import { useInfiniteQuery } from "@tanstack/react-query"
import type { listOptions } from "../data/queries.ts"
import { type OldestEvent, oldestOf } from "./history.ts"

interface Event {
  readonly at: string
  readonly status: MonitorStatus
}

/**
 * The oldest event that the page of a monitor has read. Undefined until some are read. A monitor that
 * is checked from its creation on was first seen `madeAt`, however many events there are.
 */
export const useOldestEvent = <A extends Event>(
  options: ReturnType<typeof listOptions<A>>,
  madeAt?: string
): OldestEvent | undefined => {
  const { data, hasNextPage, isPending } = useInfiniteQuery(options)
  if (isPending) return undefined
  const isAll = data !== undefined && !hasNextPage
  const oldest = oldestOf(data?.pages.flatMap((page) => page.data) ?? [], isAll)
  return isAll || madeAt === undefined ? oldest : { at: madeAt, isFirst: false }
}
