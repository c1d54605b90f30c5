import type { User } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { meOptions } from "../data/queries.ts"
import { signInOptions } from "../data/signInOptions.ts"
import { LoadedPage } from "../ui/messages/Loaded.tsx"
import { Card, Page, Section } from "../ui/layout/Page.tsx"
import { DeleteAccount } from "./DeleteAccount.tsx"
import { EmailForm, NameForm } from "./ProfileForms.tsx"
import { Passkeys } from "./Passkeys.tsx"
import { PasswordForm } from "./PasswordForm.tsx"
import { SecondFactor } from "./SecondFactor.tsx"
import { Sessions } from "./Sessions.tsx"

export const AccountPage = () => {
  const { data: options } = useQuery(signInOptions)
  const hasPasswords = options?.password !== false
  const hasPassword = (me: User) => hasPasswords && me.has_password
  return (
    <LoadedPage query={useQuery(meOptions)} name="Your account" width="narrow">
      {(me) => (
        <Page title="Your account" width="narrow" description={me.email}>
          <div className="flex flex-col gap-10">
            <Section title="Profile">
              <div className="flex flex-col gap-4">
                <NameForm me={me} />
                <EmailForm me={me} hasPassword={hasPassword(me)} />
              </div>
            </Section>
            {hasPasswords && (
              <Section title="Password">
                {me.has_password ? <PasswordForm /> : <NoPassword />}
              </Section>
            )}
            {options?.passkey === true && "PublicKeyCredential" in window && (
              <Section title="Passkeys">
                <Passkeys />
              </Section>
            )}
            {hasPassword(me) && (
              <Section title="Two-factor authentication">
                <SecondFactor />
              </Section>
            )}
            <Section title="Sessions">
              <Sessions />
            </Section>
            <Section title="Delete account">
              <DeleteAccount hasPassword={hasPassword(me)} />
            </Section>
          </div>
        </Page>
      )}
    </LoadedPage>
  )
}

const NoPassword = () => (
  <Card className="p-5">
    <p className="text-soft">
      Your account has no password. To set one, sign out and choose “Forgot your password?”.
    </p>
  </Card>
)
