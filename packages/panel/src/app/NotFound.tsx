import { queryOptions, useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { queryClient, workspacesOptions } from "../data/queries.ts"
import { session } from "../data/session.ts"
import { ButtonLink } from "../ui/actions/Button.tsx"
import { EmptyState, Page, Section } from "../ui/layout/Page.tsx"

/** The user's workspaces. Empty if nobody is signed in. */
const ownWorkspaces = queryOptions({
  queryKey: ["workspaces", "own"],
  queryFn: async () =>
    (await session.isOpen()) ? await queryClient.ensureQueryData(workspacesOptions) : []
})

export const NotFound = () => {
  const { data: workspaces = [] } = useQuery(ownWorkspaces)
  return (
    <Page title="Not found" width="narrow">
      <EmptyState
        title="This page does not exist"
        action={<ButtonLink to="/">Go to the overview</ButtonLink>}
      >
        It may have been deleted, or the address is wrong.
      </EmptyState>
      {workspaces.length > 0 && (
        <Section title="Your workspaces" className="mt-8">
          <ul className="flex flex-col gap-2">
            {workspaces.map(({ id, name }) => (
              <li key={id}>
                <Link
                  to="/w/$workspaceId"
                  params={{ workspaceId: id }}
                  className="font-medium break-words text-live hover:underline"
                >
                  {name}
                </Link>
              </li>
            ))}
          </ul>
        </Section>
      )}
    </Page>
  )
}
