import { useNavigate, useSearch } from "@tanstack/react-router"

/** A list's filters, stored in the URL's search parameters. */
export const useFilters = <Search extends object>(
  read: (search: Readonly<Record<string, unknown>>) => Search
) => {
  const search = read(useSearch({ strict: false }))
  const navigate = useNavigate()
  return {
    search,
    isFiltered: Object.keys(search).length > 0,
    /** Sets the given filters, and removes those that are undefined or invalid. */
    filter: (change: { readonly [Key in keyof Search]?: unknown }) =>
      void navigate({
        to: ".",
        search: (before: Readonly<Record<string, unknown>>) => read({ ...before, ...change }),
        replace: true
      })
  }
}
