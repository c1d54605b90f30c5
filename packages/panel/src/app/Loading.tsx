import { Page, Skeleton } from "../ui/layout/Page.tsx"

export const Loading = () => (
  <Page title={<Skeleton className="h-7 w-48" />} name="Loading">
    <Skeleton className="h-64" />
  </Page>
)
