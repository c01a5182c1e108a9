#include "mailonce/smtp/capabilities.h"

#include <gtest/gtest.h>

namespace mailonce::smtp {
namespace {

Capabilities of(std::string text) {
  return Capabilities::parse(Reply{250, std::move(text)});
}

// The profile of Amazon SES: its last line is a bare "Ok", read as an extension nobody knows.
TEST(Capabilities, ReadsWhatSesAnnounces) {
  const auto found = of("email-smtp.amazonaws.com\n8BITMIME\nSIZE 10485760\nAUTH PLAIN LOGIN\nOk");
  EXPECT_TRUE(found.eight_bit_mime);
  EXPECT_TRUE(found.size);
  EXPECT_EQ(found.max_size, 10485760u);
  EXPECT_TRUE(found.offers_auth("plain"));
  EXPECT_TRUE(found.offers_auth("LOGIN"));
  EXPECT_FALSE(found.offers_auth("CRAM-MD5"));
  EXPECT_FALSE(found.pipelining || found.starttls || found.enhanced_status_codes);
}

TEST(Capabilities, KeywordsAreReadInAnyCase) {
  const auto found = of("x\npipelining\nStartTls\nEnhancedStatusCodes\n8bitmime\nauth plain");
  EXPECT_TRUE(found.pipelining && found.starttls && found.enhanced_status_codes && found.eight_bit_mime);
  EXPECT_EQ(found.auth, std::vector<std::string>{"PLAIN"});
}

// SendGrid sends both forms.
TEST(Capabilities, TheOldFormOfAuthCountsAndIsNotCountedTwice) {
  EXPECT_EQ(of("x\nAUTH PLAIN LOGIN\nAUTH=PLAIN LOGIN XOAUTH2").auth,
            (std::vector<std::string>{"PLAIN", "LOGIN", "XOAUTH2"}));
  EXPECT_EQ(of("x\nAUTH=LOGIN").auth, std::vector<std::string>{"LOGIN"});
}

TEST(Capabilities, SizeWithoutAUsefulNumberIsNoMaximum) {
  for (const auto* line :
       {"x\nSIZE", "x\nSIZE 0", "x\nSIZE abc", "x\nSIZE 12k", "x\nSIZE 99999999999999999999999"}) {
    EXPECT_TRUE(of(line).size) << line;
    EXPECT_EQ(of(line).max_size, std::nullopt) << line;
  }
}

// RFC 9422.
TEST(Capabilities, LimitsAreReadAsFarAsTheyAreUnderstood) {
  const auto found = of("x\nLIMITS RCPTMAX=100 MAILMAX=10 rcptdomainmax=2 FOO");
  EXPECT_EQ(found.max_recipients, 100u);
  EXPECT_EQ(found.max_recipient_domains, 2u);
  for (const auto* line : {"x\nLIMITS", "x\nLIMITS RCPTMAX", "x\nLIMITS RCPTMAX=", "x\nLIMITS RCPTMAX=0",
                           "x\nLIMITS RCPTMAX=1000000", "x\nLIMITS RCPTMAX=1k"})
    EXPECT_EQ(of(line), Capabilities()) << line;
}

TEST(Capabilities, TheGreetingLineIsNoExtension) {
  EXPECT_EQ(of("PIPELINING"), Capabilities());
  EXPECT_EQ(of(""), Capabilities());
}

TEST(Capabilities, WhatIsAnnouncedIsReadBackTheSame) {
  Capabilities all;
  all.pipelining = all.eight_bit_mime = all.enhanced_status_codes = all.starttls = all.size = true;
  all.chunking = all.requiretls = true;
  all.max_size = 1000;
  all.max_recipients = 100;
  all.max_recipient_domains = 2;
  all.auth = {"PLAIN", "LOGIN"};
  EXPECT_EQ(all.announce("host").text,
            "host\nPIPELINING\nSIZE 1000\n8BITMIME\nCHUNKING\nREQUIRETLS\nLIMITS RCPTMAX=100 "
            "RCPTDOMAINMAX=2\nSTARTTLS\nAUTH PLAIN LOGIN\nENHANCEDSTATUSCODES");
  EXPECT_EQ(Capabilities::parse(all.announce("host")), all);
  EXPECT_EQ(Capabilities::parse(Capabilities().announce("host")), Capabilities());
}

}  // namespace
}  // namespace mailonce::smtp
