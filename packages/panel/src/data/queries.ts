import { ApiError, type Page } from "@scheduling/sdk"
import {
  infiniteQueryOptions,
  QueryClient,
  queryOptions,
  type QueryKey,
  useInfiniteQuery
} from "@tanstack/react-query"
import { useMemo } from "react"
import { client } from "./client.ts"

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // What is shown is at most this old; a page that was just left is there at once.
      staleTime: 5_000,
      gcTime: 10 * 60_000,
      // The SDK has tried again already, where that helps.
      retry: false,
      refetchOnWindowFocus: true
    },
    mutations: { retry: false }
  }
})

/** Whether a failure is an answer, so that asking again would give the same. */
export const isAnswer = (error: unknown): boolean => error instanceof ApiError && error.status < 500

/** A list that is read page by page as the reader goes down. */
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

/** For the loader of a page: its list is asked for while its code is on the way. */
export const loadList = <A>(options: ReturnType<typeof listOptions<A>>): void => {
  void queries.prefetchInfiniteQuery(options)
}

/** What `List` needs of such a list. */
export const useList = <A>(options: ReturnType<typeof listOptions<A>>) => {
  const query = useInfiniteQuery(options)
  const pages = query.data?.pages
  // The same rows as long as nothing else was read, so that what is drawn of them stays.
  const rows = useMemo(() => pages?.flatMap(({ data }) => data) ?? [], [pages])
  return {
    rows,
    isLoading: query.isPending,
    hasMore: query.hasNextPage && !query.isFetchingNextPage,
    /** True once every matching record has been read. */
    isWhole: query.data !== undefined && !query.hasNextPage,
    onMore: query.fetchNextPage,
    error: query.error,
    refetch: query.refetch
  }
}

/** For a record that is read again although it was read just now. */
export const anew = <Options extends object>(options: Options) => ({ ...options, staleTime: 0 })

export const meOptions = queryOptions({
  queryKey: ["me"],
  queryFn: ({ signal }) => client.auth.me({ signal }),
  staleTime: 5 * 60_000
})

export const workspacesOptions = queryOptions({
  queryKey: ["workspaces"],
  queryFn: ({ signal }) =>
    client.workspaces.list({ limit: 100 }, { signal }).toArray({ limit: 500 }),
  staleTime: 60_000
})
