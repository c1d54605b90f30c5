import { type QueryKey, useQuery, type UseQueryOptions } from "@tanstack/react-query"

/** The task that a new one is a copy of. Undefined if it is of none; null while it is on its way. */
export const useOriginal = <Task, Key extends QueryKey>(
  from: string | undefined,
  options: UseQueryOptions<Task, Error, Task, Key>
): Task | null | undefined => {
  const { data, isError } = useQuery({ ...options, enabled: from !== undefined })
  return from === undefined || isError ? undefined : (data ?? null)
}
