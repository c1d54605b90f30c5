import type { ReactNode } from "react"
import { Page, Skeleton } from "../layout/Page.tsx"
import { Problem } from "./Problem.tsx"

interface Query<Data> {
  readonly data: Data | undefined
  readonly error: unknown
  readonly refetch: () => unknown
}

/** Shows the data of a query, a placeholder while it loads, or its error. */
export const Loaded = <Data,>({
  children,
  height,
  query: { data, error, refetch }
}: {
  readonly query: Query<Data>
  /** The class for the height of the placeholder, such as `h-40`. */
  readonly height: string
  readonly children: (data: Data) => ReactNode
}) =>
  error !== null ? (
    <Problem error={error} retry={refetch} />
  ) : data === undefined ? (
    <Skeleton className={height} />
  ) : (
    children(data)
  )

/** The page of one record. While the record loads, the page shows its layout with a placeholder. */
export const LoadedPage = <Data,>({
  above,
  children,
  name,
  query,
  width = "wide"
}: {
  readonly query: Query<Data>
  /** The title of the browser tab while the record loads. */
  readonly name: string
  readonly above?: ReactNode
  readonly width?: "wide" | "narrow"
  readonly children: (data: Data) => ReactNode
}) =>
  query.data === undefined ? (
    <Page title={<Skeleton className="h-7 w-64" />} name={name} above={above} width={width}>
      <Loaded query={query} height="h-96">
        {() => null}
      </Loaded>
    </Page>
  ) : (
    children(query.data)
  )
