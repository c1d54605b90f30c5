import { ButtonLink } from "../ui/actions/Button.tsx"
import { Empty, Page } from "../ui/layout/Page.tsx"

export const NotFound = () => (
  <Page title="Not found" width="narrow">
    <Empty
      title="There is no such page"
      action={<ButtonLink to="/">Go to the overview</ButtonLink>}
    >
      It may have been deleted, or the address is not right.
    </Empty>
  </Page>
)
