import { useMemo, useState } from "react"

/** Rows of a list that were chosen, as long as they are in it. */
export const useSelection = <Row extends { readonly id: string }>(rows: ReadonlyArray<Row>) => {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  return useMemo(
    () => ({
      chosen: rows.filter(({ id }) => ids.has(id)),
      has: ({ id }: Row): boolean => ids.has(id),
      toggle: ({ id }: Row) =>
        setIds((before) => {
          const after = new Set(before)
          if (!after.delete(id)) after.add(id)
          return after
        }),
      all: () => setIds(new Set(rows.map(({ id }) => id))),
      none: () => setIds(new Set())
    }),
    [rows, ids]
  )
}
