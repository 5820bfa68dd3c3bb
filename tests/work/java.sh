#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Java: javac, jar, and Maven offline with the plugins that Debian packages. Maven's local repository is in the private home.
. "$(dirname "$0")/support/lib.sh"
need java javac mvn

mkdir -p src/main/java/org/example src/test/java/org/example
cat >src/main/java/org/example/Sample.java <<'END'
package org.example;

import java.util.stream.IntStream;

public class Sample {
	public static int compute() {
		return IntStream.rangeClosed(6, 8).parallel().map(n -> n * 2).sum();
	}

	public static void main(String[] arguments) throws Exception {
		java.nio.file.Path file = java.nio.file.Files.createTempFile("sample", ".txt");
		java.nio.file.Files.writeString(file, System.getProperty("user.home"));
		System.out.println(compute() + " " + java.nio.file.Files.readString(file));
	}
}
END
works_sh "javac, jar, java" 'javac -d classes $(find src/main -name "*.java"); jar --create --file sample.jar --main-class org.example.Sample -C classes .; java -jar sample.jar'
expect_equal "what it computes, and the home's own path" "42 $HOME" "$(tail -n 1 <<<"$out")"

repository=/usr/share/maven-repo
if [ ! -d "$repository/org/apache/maven/plugins/maven-surefire-plugin" ] || [ ! -d "$repository/junit/junit" ]; then
	echo "Maven's plugins are not installed in $repository; script/setup --test installs them"
	exit 77
fi
newest() {
	find "$repository/$1" -mindepth 1 -maxdepth 1 -type d -name '[0-9]*' -printf '%f\n' | sort -V | tail -n 1
}
plugin() {
	echo "<plugin><groupId>org.apache.maven.plugins</groupId><artifactId>maven-$1-plugin</artifactId><version>$(newest "org/apache/maven/plugins/maven-$1-plugin")</version></plugin>"
}
cat >src/test/java/org/example/SampleTest.java <<'END'
package org.example;

import static org.junit.Assert.assertEquals;

public class SampleTest {
	@org.junit.Test
	public void computes() {
		assertEquals(42, Sample.compute());
	}
}
END
cat >pom.xml <<END
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>org.example</groupId>
  <artifactId>sample</artifactId>
  <version>1.0</version>
  <properties>
    <maven.compiler.source>11</maven.compiler.source>
    <maven.compiler.target>11</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>
    <dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>$(newest junit/junit)</version><scope>test</scope></dependency>
  </dependencies>
  <build><plugins>
    $(plugin resources)
    $(plugin compiler)
    $(plugin surefire)
    $(plugin jar)
  </plugins></build>
</project>
END
works_sh "a local repository in the private home" 'mkdir -p ~/.m2; cp -rs "$1" ~/.m2/repository' "$repository"
works "mvn --offline package" mvn --offline --batch-mode -Dstyle.color=never package
expect_contains "its test" "Tests run: 1, Failures: 0, Errors: 0" "$out"
works_sh "the archive" 'java -cp target/sample-1.0.jar org.example.Sample'
expect_contains "what it computes" 42 "$out"
expect "the repository is kept in the private home" test -d "$(private_home)/.m2/repository"

finish_work
