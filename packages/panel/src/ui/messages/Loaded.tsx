import type { ReactNode } from "react"
import { Page, Skeleton } from "../layout/Page.tsx"
import { Problem } from "./Problem.tsx"

interface Query<Data> {
  readonly data: Data | undefined
  readonly error: unknown
  readonly refetch: () => unknown
}

/** The data of a query: a placeholder while it loads, the problem if it failed. */
export const Loaded = <Data,>({
  children,
  height,
  query: { data, error, refetch }
}: {
  readonly query: Query<Data>
  /** The class for the height of the placeholder: `h-40`. */
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

/** The page of one record, with a frame around the placeholder while the record loads. */
export const LoadedPage = <Data,>({
  above,
  children,
  name,
  query,
  width = "wide"
}: {
  readonly query: Query<Data>
  /** The title for the browser tab while the record is not known. */
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
