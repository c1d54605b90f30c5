import type { ReactNode } from "react"
import { Card } from "../layout/Page.tsx"
import { Loaded } from "../messages/Loaded.tsx"

export const cardRowClass =
  "flex items-baseline gap-3 px-4 py-2.5 transition-colors duration-75 hover:bg-sunken/60"

export const CardList = <Item,>({
  children,
  empty,
  height = "h-14",
  keyOf,
  query
}: {
  readonly query: Parameters<typeof Loaded<ReadonlyArray<Item>>>[0]["query"]
  readonly keyOf: (item: Item) => string
  readonly empty: ReactNode
  readonly height?: string
  readonly children: (item: Item) => ReactNode
}) => (
  <Loaded query={query} height={height}>
    {(items) =>
      items.length === 0 ? (
        <Card className="flex items-center gap-2.5 px-4 py-3.5 text-soft">{empty}</Card>
      ) : (
        <Card>
          <ul className="divide-y divide-line">
            {items.map((item) => (
              <li key={keyOf(item)}>{children(item)}</li>
            ))}
          </ul>
        </Card>
      )
    }
  </Loaded>
)
