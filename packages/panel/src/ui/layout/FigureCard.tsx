import type { ReactNode } from "react"
import { Card, Skeleton } from "./Page.tsx"

export const FigureCard = ({
  children,
  name,
  note,
  value
}: {
  readonly name: string
  readonly value: ReactNode
  readonly note?: ReactNode
  readonly children?: ReactNode
}) => (
  <Card className="px-4 py-3.5">
    <p className="text-sm text-faint">{name}</p>
    <p className="mt-1 text-xl font-semibold tracking-tight nums">
      {value ?? <Skeleton className="my-1 h-5 w-16" />}
    </p>
    {note !== undefined && <p className="mt-0.5 text-xs text-faint">{note}</p>}
    {children}
  </Card>
)

export const FigureCards = ({ children }: { readonly children: ReactNode }) => (
  <div className="flex flex-wrap gap-3 [&>*]:grow [&>*]:basis-40">{children}</div>
)
