import { ApiError, type Page } from "@scheduling/sdk"
import {
  infiniteQueryOptions,
  QueryClient,
  queryOptions,
  type QueryKey,
  useInfiniteQuery,
  useQuery,
  type UseQueryOptions
} from "@tanstack/react-query"
import { useMemo } from "react"
import { client } from "./client.ts"

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      gcTime: 10 * 60_000,
      // The SDK already retries requests that are worth retrying.
      retry: false,
      refetchOnWindowFocus: true
    },
    mutations: { retry: false }
  }
})

/** True if the error is an API response that a retry would not change. */
export const isPermanentError = (error: unknown): boolean =>
  error instanceof ApiError && error.status < 500

/** Retries a secondary request once, so that a part of a page fails soon. */
export const retryOnce = (count: number, error: unknown): boolean =>
  count < 1 && !isPermanentError(error)

export const listOptions = <A>(
  queryKey: QueryKey,
  page: (cursor: string | undefined, signal: AbortSignal) => Promise<Page<A>>
) =>
  infiniteQueryOptions({
    queryKey,
    queryFn: async ({ pageParam, signal }) => {
      const { data, next_cursor } = await page(pageParam, signal)
      return { data, next_cursor }
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined
  })

/** Fetches a list while its page's code loads. */
export const prefetchList = <A>(options: ReturnType<typeof listOptions<A>>): void => {
  void queryClient.prefetchInfiniteQuery(options)
}

/** Returns the props for `List`. */
export const useList = <A>(options: ReturnType<typeof listOptions<A>>) => {
  const query = useInfiniteQuery(options)
  const pages = query.data?.pages
  // Unchanged rows keep their identity, so that they are not rendered again.
  const rows = useMemo(() => pages?.flatMap(({ data }) => data) ?? [], [pages])
  return {
    rows,
    isLoading: query.isPending,
    hasMore: query.hasNextPage && !query.isFetchingNextPage,
    /** True if all pages are loaded. */
    isWhole: query.data !== undefined && !query.hasNextPage,
    onMore: query.fetchNextPage,
    error: query.error,
    refetch: query.refetch
  }
}

/** Returns the props for `List` of a list that is fetched as a whole. */
export const useWholeList = <Rows extends ReadonlyArray<unknown>, Key extends QueryKey>(
  options: UseQueryOptions<Rows, Error, Rows, Key>
) => {
  const { data = [], error, isPending, refetch } = useQuery(options)
  return { rows: data, isLoading: isPending, error, refetch }
}

/** Returns query options that refetch even if the cached data is fresh. */
export const bypassCache = <Options extends object>(options: Options) => ({
  ...options,
  staleTime: 0
})

export const meOptions = queryOptions({
  queryKey: ["me"],
  queryFn: ({ signal }) => client.auth.getMe({ signal }),
  staleTime: 5 * 60_000
})

export const workspacesOptions = queryOptions({
  queryKey: ["workspaces"],
  queryFn: ({ signal }) =>
    client.workspaces.list({ limit: 100 }, { signal }).toArray({ limit: 500 }),
  staleTime: 60_000
})
