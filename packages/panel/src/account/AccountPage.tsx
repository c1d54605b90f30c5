import { useQuery } from "@tanstack/react-query"
import { meOptions } from "../data/queries.ts"
import { signInOptions } from "../data/signInOptions.ts"
import { LoadedPage } from "../ui/messages/Loaded.tsx"
import { Page, Section } from "../ui/layout/Page.tsx"
import { DeleteAccount } from "./DeleteAccount.tsx"
import { EmailForm, NameForm } from "./ProfileForms.tsx"
import { Passkeys } from "./Passkeys.tsx"
import { PasswordForm } from "./PasswordForm.tsx"
import { SecondFactor } from "./SecondFactor.tsx"
import { Sessions } from "./Sessions.tsx"

export const AccountPage = () => {
  const { data: options } = useQuery(signInOptions)
  return (
    <LoadedPage query={useQuery(meOptions)} name="Your account" width="narrow">
      {(me) => (
        <Page title="Your account" width="narrow" description={me.email}>
          <div className="flex flex-col gap-10">
            <Section title="Profile">
              <div className="flex flex-col gap-4">
                <NameForm me={me} />
                <EmailForm me={me} />
              </div>
            </Section>
            <Section title="Password">
              <PasswordForm />
            </Section>
            {options?.passkey === true && "PublicKeyCredential" in window && (
              <Section title="Passkeys">
                <Passkeys />
              </Section>
            )}
            <Section title="Second factor">
              <SecondFactor />
            </Section>
            <Section title="Sessions">
              <Sessions />
            </Section>
            <Section title="Delete account">
              <DeleteAccount />
            </Section>
          </div>
        </Page>
      )}
    </LoadedPage>
  )
}
