# Animastor as compose.yaml runs it: the program, its pinned packages, and nothing else. Everything it needs comes from
# wheels, ffmpeg included.
FROM python:3.12-slim

WORKDIR /opt/animastor
COPY pyproject.toml requirements.lock README.md LICENSE NOTICE ./
COPY src ./src

# The lock also pins what tests need; as constraints it pins only what is installed.
RUN sed -E '/--hash=/d; s/ *\\$//' requirements.lock > constraints.txt \
    && pip install --no-cache-dir --constraint constraints.txt '.[postgresql,redis,s3]' \
    && useradd --create-home --uid 1000 animastor \
    && install --directory --owner animastor /var/lib/animastor

USER animastor
ENV ANIMASTOR_HOME=/var/lib/animastor
VOLUME /var/lib/animastor
WORKDIR /work
ENTRYPOINT ["animastor"]
