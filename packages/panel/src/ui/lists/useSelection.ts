import { useMemo, useState } from "react"

interface Identified {
  readonly id: string
}

export interface Selection<Row extends Identified = Identified> {
  readonly chosen: ReadonlyArray<Row>
  readonly count: number
  readonly has: (row: Identified) => boolean
  readonly toggle: (row: Identified) => void
  readonly all: () => void
  readonly none: () => void
}

/** Tracks a list's selected rows. A row that leaves the list is deselected. */
export const useSelection = <Row extends Identified>(rows: ReadonlyArray<Row>): Selection<Row> => {
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
