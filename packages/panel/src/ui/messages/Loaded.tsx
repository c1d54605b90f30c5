import type { ReactNode } from "react"
import { Page, Skeleton } from "../layout/Page.tsx"
import { Problem } from "./Problem.tsx"

/** A page about one thing: its place is held until the thing is there, or until it failed. */
export const Loaded = <Thing,>({
  above,
  children,
  name,
  query: { data, error, refetch },
  width = "wide"
}: {
  readonly query: {
    readonly data: Thing | undefined
    readonly error: unknown
    readonly refetch: () => unknown
  }
  /** For the tab of the browser, while the title is not known. */
  readonly name: string
  readonly above?: ReactNode
  readonly width?: "wide" | "narrow"
  readonly children: (thing: Thing) => ReactNode
}) =>
  data === undefined ? (
    <Page title={<Skeleton className="h-7 w-64" />} name={name} above={above} width={width}>
      {error === null ? (
        <Skeleton className="h-96" />
      ) : (
        <Problem error={error} retry={() => void refetch()} />
      )}
    </Page>
  ) : (
    children(data)
  )
