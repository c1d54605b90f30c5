import { useMemo, useState } from "react"

interface Named {
  readonly id: string
}

export interface Selection<Row extends Named = Named> {
  readonly chosen: ReadonlyArray<Row>
  /** How many could be chosen. */
  readonly count: number
  readonly has: (row: Named) => boolean
  readonly toggle: (row: Named) => void
  readonly all: () => void
  readonly none: () => void
}

/** Rows of a list that were chosen, as long as they are in it. */
export const useSelection = <Row extends Named>(rows: ReadonlyArray<Row>): Selection<Row> => {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  return useMemo(
    () => ({
      chosen: rows.filter(({ id }) => ids.has(id)),
      count: rows.length,
      has: ({ id }) => ids.has(id),
      toggle: ({ id }) =>
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
